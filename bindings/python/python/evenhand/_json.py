"""Python data as JSON text, without loss: floats as their shortest decimals, fractions as texts."""

from __future__ import annotations

import json
from typing import Any, List

from ._errors import InputError
from ._numbers import token

_MOST_DEPTH = 100


def dumps(value: Any) -> str:
    """Returns the text. Raises :class:`InputError` with the place of a value that JSON cannot express."""
    parts: List[str] = []
    _write(value, "", parts, 0)
    return "".join(parts)


def _write(value: Any, at: str, parts: List[str], depth: int) -> None:
    if depth > _MOST_DEPTH:
        raise InputError(f"lists and objects are nested too deep: expected at most {_MOST_DEPTH} levels", field=at)
    if value is None:
        parts.append("null")
    elif value is True or value is False:
        parts.append("true" if value else "false")
    elif isinstance(value, str):
        parts.append(json.dumps(value))
    elif isinstance(value, dict):
        _write_object(value, at, parts, depth)
    elif isinstance(value, (list, tuple)):
        _write_list(value, at, parts, depth)
    elif hasattr(value, "tolist") and getattr(value, "shape", ()) != ():
        _write_list(list(value), at, parts, depth)
    else:
        parts.append(token(value, at))


def _write_object(value: dict, at: str, parts: List[str], depth: int) -> None:
    parts.append("{")
    for position, (key, inner) in enumerate(value.items()):
        if not isinstance(key, str):
            raise InputError(f"found the key {key!r}: expected a text", field=at)
        parts.append(f"{', ' if position else ''}{json.dumps(key)}: ")
        _write(inner, f"{at}.{key}" if at else key, parts, depth + 1)
    parts.append("}")


def _write_list(value: Any, at: str, parts: List[str], depth: int) -> None:
    parts.append("[")
    for position, inner in enumerate(value):
        if position:
            parts.append(", ")
        _write(inner, f"{at}[{position}]", parts, depth + 1)
    parts.append("]")
