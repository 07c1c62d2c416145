"""The settings of mechanisms in the form that the library reads."""

from __future__ import annotations

from typing import Any, List, Mapping, Optional, Tuple

from . import _numbers
from ._errors import InputError


def name(mechanism: Any) -> str:
    if not isinstance(mechanism, str):
        message = f"found {type(mechanism).__name__}: expected the name of a mechanism or a rule (evenhand.mechanism)"
        raise InputError(message, field="mechanism")
    return mechanism


def seed(value: Any) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise InputError(f"found {_numbers.shown(value)}: expected a whole number", field="seed")
    value = value.__index__()
    if not 0 <= value < 2**64:
        raise InputError(f"found {_numbers.shown(value)}: expected a whole number from 0 to below 2^64", field="seed")
    return value


def count(value: Any, field: str, most: int = 2**63 - 1) -> int:
    """Returns a whole number from 0 to ``most``."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or not 0 <= value <= most:
        expected = "a whole number" if most == 2**63 - 1 else f"a whole number from 0 to {most}"
        raise InputError(f"found {_numbers.shown(value)}: expected {expected}", field=field)
    return int(value)


def seconds(value: Any) -> Optional[float]:
    """Returns a time limit in seconds, or None."""
    if value is None:
        return None
    try:
        return float(_numbers.text(value, "seconds"))
    except (ValueError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"found {_numbers.shown(value)}: expected a number of seconds", field="seconds") from None


def texts(settings: Mapping[str, Any]) -> List[Tuple[str, str]]:
    """Returns keyword arguments as options of the command line: ``no_nominal_first=True`` is ``--no-nominal-first``."""
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
                raise InputError(f"found {_numbers.shown(each)}: expected a name without commas", field=f"{key}[{position}]")
        return ",".join(value)
    return _numbers.text(value, key)
