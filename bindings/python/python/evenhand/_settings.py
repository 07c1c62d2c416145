"""Settings of mechanisms, as the library reads them."""

from __future__ import annotations

from typing import Any, List, Mapping, Tuple

from . import _numbers
from ._errors import InputError


def name(mechanism: Any) -> str:
    if not isinstance(mechanism, str):
        message = f"found {type(mechanism).__name__}: expected the name of a mechanism or a rule (evenhand.mechanism)"
        raise InputError(message, field="mechanism")
    return mechanism


def seed(value: Any) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise InputError(f"found {value!r}: expected a whole number", field="seed")
    value = value.__index__()
    if not 0 <= value < 2**64:
        raise InputError(f"found {value}: expected a whole number from 0 to below 2^64", field="seed")
    return value


def texts(settings: Mapping[str, Any]) -> List[Tuple[str, str]]:
    """Keyword arguments as flags of the command line: ``no_nominal_first=True`` is ``--no-nominal-first``."""
    stated = []
    for key, value in settings.items():
        if value is None or value is False:
            continue
        stated.append((key.replace("_", "-"), _text(key, value)))
    return stated


def _text(key: str, value: Any) -> str:
    if value is True:
        return ""
    if isinstance(value, Mapping):
        return ",".join(f"{name}={_numbers.text(amount, f'{key}.{name}')}" for name, amount in value.items())
    if isinstance(value, (list, tuple)):
        for position, each in enumerate(value):
            if not isinstance(each, str) or "," in each:
                raise InputError(f"found {each!r}: expected a name without commas", field=f"{key}[{position}]")
        return ",".join(value)
    return _numbers.text(value, key)
