"""Python numbers as exact text.

A float means its shortest decimal, so that 0.1 is one tenth. Fractions, Decimals and integers of any length are exact;
texts are read like numbers in files (``"5/7"``, ``"64Gi"``).
"""

from __future__ import annotations

import json
import math
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational, Real
from typing import Any

from ._errors import InputError

#: The most digits of a number in a problem. Longer numbers are refused before they are converted.
MOST_DIGITS = 100_000
_MOST_BITS = int(MOST_DIGITS * 3.33)


def _whole(value: int, field: str) -> str:
    if value.bit_length() > _MOST_BITS:
        raise InputError(f"found a number of {value.bit_length()} bits: expected at most {_MOST_BITS}", field=field)
    try:
        return str(value)
    except ValueError:
        # Python refuses to convert long integers at once, so the digits are converted in blocks.
        return _long(value)


def _long(value: int) -> str:
    digits = []
    sign, value = ("-", -value) if value < 0 else ("", value)
    base = 10**4000
    while value:
        value, rest = divmod(value, base)
        digits.append(str(rest).zfill(4000))
    return sign + "".join(reversed(digits)).lstrip("0")


def text(value: Any, field: str) -> str:
    """Returns the number as exact text, without quotes."""
    kind = type(value)
    if kind is float:
        return _float(value, field)
    if kind is int:
        return _whole(value, field)
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or kind.__name__ in ("bool_", "bool"):
        raise InputError(f"found {value!r}: expected a number", field=field)
    if isinstance(value, Fraction) or (isinstance(value, Rational) and not isinstance(value, Integral)):
        numerator, denominator = _whole(int(value.numerator), field), _whole(int(value.denominator), field)
        return numerator if denominator == "1" else f"{numerator}/{denominator}"
    if isinstance(value, Integral):
        return _whole(int(value), field)
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise InputError(f"found {value}: expected a finite number", field=field)
        return str(value)
    if isinstance(value, float):
        return _float(float(value), field)
    if isinstance(value, Real) or _is_array_scalar(value):
        # Floats of another width have their own shortest decimals.
        if _is_array_scalar(value) and value.dtype.kind not in "fiu":
            raise InputError(f"found {value!r}: expected a number", field=field)
        if not math.isfinite(value):
            raise InputError(f"found {value}: expected a finite number", field=field)
        return str(value)
    raise InputError(f"found {shown(value)}: expected a number", field=field)


def _float(value: float, field: str) -> str:
    if value - value != 0.0:
        raise InputError(f"found {value}: expected a finite number", field=field)
    return repr(value)


def _is_array_scalar(value: Any) -> bool:
    return hasattr(value, "dtype") and getattr(value, "shape", None) == ()


def shown(value: Any) -> str:
    """Returns a short text of any value for a message. Python refuses to write integers of more than 4300 digits."""
    try:
        shown = repr(value)
    except Exception:
        shown = f"a number of {value.bit_length()} bits" if isinstance(value, int) else f"a {type(value).__name__}"
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


def token(value: Any, field: str) -> str:
    """Returns the number as JSON, as a string if JSON has no such number."""
    kind = type(value)
    if kind is float:
        return _float(value, field)
    if kind is int:
        return _whole(value, field)
    return json.dumps(text(value, field))


def is_negative(value: Any) -> bool:
    """Returns ``True`` if a number is below 0. Texts are checked by the library."""
    return not isinstance(value, str) and value < 0


def optional(value: Any, field: str) -> Any:
    return None if value is None else text(value, field)
