"""Answers of other solvers, as texts of exact numbers."""

from __future__ import annotations

from typing import Any, List, Mapping, Sequence, Tuple

from . import _arrays as arrays
from ._errors import InputError
from ._numbers import text


def stated_values(values: Any, names: Sequence[str], field: str, what: str) -> Tuple[List[str], int]:
    """Returns a text for each name, and the number of names without a value, which is taken as 0."""
    if hasattr(values, "to_dict") and arrays.names_of(values, "index") is not None:
        # A series of pandas has labels.
        values = values.to_dict()
    if not isinstance(values, Mapping):
        found = arrays.vector(values, len(names), field, what)
        return [text(value, f"{field}[{at}]") for at, value in enumerate(found)], 0
    known = set(names)
    for name in values:
        if name not in known:
            raise InputError(f"found the name `{name!s:.60}`: expected the names of the {what} of the programme", field=field)
    stated = [text(values[name], f"{field}.{name}") if name in values else "0" for name in names]
    return stated, len(names) - len(values)
