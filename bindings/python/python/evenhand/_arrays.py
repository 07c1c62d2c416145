"""Arrays, data frames and nested lists as rows of numbers, without importing numpy."""

from __future__ import annotations

from typing import Any, List, Mapping, Optional, Sequence, Tuple

from ._errors import InputError
from ._numbers import is_negative, text, token

#: The most numbers of one array. As text, more would exceed the largest file that is read.
MOST_NUMBERS = 50_000_000


def names_of(array: Any, axis: str) -> Optional[List[str]]:
    """Returns the labels of the rows (``index``) or columns of a data frame, unless they are only numbers."""
    labels = getattr(array, axis, None)
    if labels is None or callable(labels) or isinstance(array, (list, tuple)):
        return None
    if type(labels).__name__ == "RangeIndex":
        return None
    return [str(label) for label in labels]


def nested(array: Any, field: str) -> Any:
    """Returns the array as lists of lists, with unchanged elements."""
    if hasattr(array, "to_numpy"):
        array = array.to_numpy()
    shape = getattr(array, "shape", None)
    if shape is not None and not callable(shape):
        size = 1
        for length in shape:
            size *= length
        if size > MOST_NUMBERS:
            raise InputError(f"found {size} numbers: expected at most {MOST_NUMBERS}", field=field)
        if hasattr(array, "toarray"):
            array = array.toarray()
        dtype = getattr(array, "dtype", None)
        if dtype is not None and dtype.kind not in "fiuO":
            raise InputError(f"found an array of {dtype}: expected numbers", field=field)
        if dtype is not None and dtype.kind == "f" and dtype.itemsize != 8:
            # Floats of another width have other shortest decimals than doubles.
            return _scalars(array)
        return array.tolist()
    if not _is_sequence(array):
        raise InputError(f"found {type(array).__name__}: expected an array of numbers", field=field)
    return list(array)


def _is_sequence(values: Any) -> bool:
    """Returns ``True`` if the values have an order and a length."""
    return hasattr(values, "__len__") and hasattr(values, "__getitem__") and not isinstance(values, (str, bytes, Mapping))


def _scalars(array: Any) -> Any:
    """Returns lists of lists of the array's own scalars, of any width."""
    return [_scalars(row) for row in array] if getattr(array, "shape", ()) else array


def _row(values: Any, field: str) -> List[Any]:
    if not _is_sequence(values):
        raise InputError(f"found {type(values).__name__}: expected a row of numbers", field=field)
    if hasattr(values, "tolist"):
        values = nested(values, field)
    return values if isinstance(values, list) else list(values)


def rows(values: Any, field: str) -> List[Any]:
    """Returns the rows of an array, a data frame or a list."""
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    if not _is_sequence(values):
        raise InputError(f"found {type(values).__name__}: expected a list", field=field)
    return values.tolist() if hasattr(values, "tolist") else list(values)


def depth(rows: List[Any]) -> int:
    """Returns the number of axes, by the first elements."""
    found = 1
    while rows and _is_sequence(rows[0]):
        found, rows = found + 1, list(rows[0])
    return found


def vector(array: Any, length: int, field: str, what: str) -> List[Any]:
    values = _row(nested(array, field), field)
    if len(values) != length:
        raise InputError(f"found {len(values)} values: expected one for each of {length} {what}", field=field)
    return values


def matrix(rows: Sequence[Any], columns: Optional[int], field: str, what: str) -> List[List[Any]]:
    """Returns rows of equal length, which is ``columns`` if that is given."""
    found: List[List[Any]] = []
    for position, row in enumerate(rows):
        values = _row(row, f"{field}[{position}]")
        expected = columns if columns is not None else len(found[0]) if found else len(values)
        if len(values) != expected:
            message = f"found {len(values)} values: expected one for each of {expected} {what}"
            raise InputError(message, field=f"{field}[{position}]")
        found.append(values)
    return found


def amount(value: Any, field: str) -> str:
    """Returns a number of at least 0, as JSON."""
    written = token(value, field)
    if is_negative(value):
        raise InputError(f"{text(value, field)} is negative: expected a number of at least 0", field=field)
    return written


def names(given: Optional[Sequence[Any]], labels: Optional[List[str]], count: int, prefix: str, field: str) -> List[str]:
    """Returns ``count`` names: the given ones, the labels of a data frame, or ``s0``, ``s1`` and so on."""
    if given is None:
        chosen = labels if labels is not None else [f"{prefix}{number}" for number in range(count)]
    else:
        chosen = list(given)
        for position, name in enumerate(chosen):
            if not isinstance(name, str):
                raise InputError(f"found {name!r}: expected a name", field=f"{field}[{position}]")
    if len(chosen) != count:
        raise InputError(f"found {len(chosen)} names: expected {count}", field=field)
    seen = set()
    for position, name in enumerate(chosen):
        if name in seen:
            raise InputError(f"the name `{name}` occurs twice", field=f"{field}[{position}]")
        seen.add(name)
    return chosen


def shape(rows: List[List[Any]]) -> Tuple[int, int]:
    return len(rows), len(rows[0]) if rows else 0
