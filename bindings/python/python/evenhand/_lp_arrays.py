"""A linear programme from arrays, as a document."""

from __future__ import annotations

import json
import math
import re
from decimal import Decimal
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from . import _arrays as arrays
from ._errors import InputError
from ._numbers import _is_array_scalar, shown, text

#: The entries of a column: the index of the row, and the number as JSON.
Entries = List[Tuple[int, str]]


class Block(NamedTuple):
    """Rows with the arrays that state them. The lower and the upper bounds are JSON, or None."""

    #: The names of the arrays in messages: the matrix, the lower bounds, the upper bounds.
    fields: Tuple[str, str, str]
    names: List[str]
    lower: List[Optional[str]]
    upper: List[Optional[str]]
    #: By column.
    entries: List[Entries]


def quoted(value: Any, field: str) -> str:
    """Returns a number as a JSON text. Every number is a text, so that no reader takes it through double precision."""
    return json.dumps(text(value, field)) if isinstance(value, str) else f'"{text(value, field)}"'


def bound(value: Any, field: str, *, is_lower: bool) -> Optional[str]:
    """Returns a bound as JSON; None, an infinite number and the texts ``inf`` and ``-inf`` mean that there is no bound."""
    if value is None:
        return None
    sign = _infinity(value)
    if sign == 0:
        return quoted(value, field)
    if (sign > 0) == is_lower:
        kind, none = ("lower", "-inf") if is_lower else ("upper", "inf")
        raise InputError(f"{value} is no {kind} bound: expected a finite number, or None or {none} for no bound", field=field)
    return None


def _infinity(value: Any) -> int:
    """Returns the sign of an infinite number, and 0 for any other value."""
    if isinstance(value, str):
        found = re.fullmatch(r"\s*([+-]?)inf(inity)?\s*", value, re.IGNORECASE)
        return (-1 if found[1] == "-" else 1) if found else 0
    if isinstance(value, (float, Decimal)) or _is_array_scalar(value):
        return 1 if value == math.inf else -1 if value == -math.inf else 0
    return 0


def vector(array: Any, field: str) -> List[Any]:
    """Returns the values of an array with one axis."""
    values = arrays.nested(array, field)
    if not isinstance(values, list):
        raise InputError(f"found {shown(array)}: expected a list of numbers", field=field)
    if values and isinstance(values[0], (list, tuple)):
        raise InputError(f"found {arrays.depth(values)} axes: expected a list of numbers", field=field)
    return values


def costs(c: Any) -> List[Any]:
    """Returns the objective coefficients, one for each column."""
    values = vector(c, "c")
    if not values:
        raise InputError("found no values: expected one for each column, and at least one column", field="c")
    return values


def entries(matrix: Any, n_columns: int, field: str) -> Tuple[int, List[Entries]]:
    """Returns the number of rows, and the entries that are not 0 by column.

    The matrix is a nested list, an array of numpy, a data frame, or a sparse matrix or array of scipy.
    """
    if hasattr(matrix, "tocsc"):
        return _of_sparse(matrix, n_columns, field)
    if hasattr(matrix, "to_numpy"):
        matrix = matrix.to_numpy()
    by_column: List[Entries] = [[] for _ in range(n_columns)]
    is_plain = type(matrix).__name__ == "ndarray" and matrix.ndim == 2 and matrix.dtype.kind in "fiu"
    if is_plain and matrix.size <= arrays.MOST_NUMBERS:
        n_rows, n_found = matrix.shape
        _expect_columns(n_found, n_columns, field)
        rows, columns = matrix.nonzero()
        values = arrays.nested(matrix[rows, columns], field)
        for row, column, value in zip(rows.tolist(), columns.tolist(), values):
            by_column[column].append((row, quoted(value, f"{field}[{row}][{column}]")))
        return n_rows, by_column
    found = arrays.matrix(arrays.nested(matrix, field), n_columns, field, "columns")
    for row, of_row in enumerate(found):
        for column, value in enumerate(of_row):
            if type(value) in (float, int) and value == 0:
                continue
            by_column[column].append((row, quoted(value, f"{field}[{row}][{column}]")))
    return len(found), by_column


def _expect_columns(found: int, expected: int, field: str) -> None:
    if found != expected:
        raise InputError(f"found {found} columns: expected one for each of {expected} values of c", field=field)


def _of_sparse(matrix: Any, n_columns: int, field: str) -> Tuple[int, List[Entries]]:
    if len(matrix.shape) != 2 or matrix.dtype.kind not in "fiu":
        raise InputError(f"found a sparse array of {matrix.dtype} with {len(matrix.shape)} axes: expected numbers and 2 axes", field=field)
    n_rows, n_found = matrix.shape
    _expect_columns(n_found, n_columns, field)
    matrix = matrix.tocsc()
    if not matrix.has_canonical_format:
        # An entry that is stated twice means the sum, as in scipy.
        matrix = matrix.copy()
        matrix.sum_duplicates()
    start, rows = matrix.indptr.tolist(), matrix.indices.tolist()
    values = arrays.nested(matrix.data, field)
    by_column: List[Entries] = []
    for column in range(n_columns):
        inside = range(start[column], start[column + 1])
        by_column.append([(rows[k], quoted(values[k], f"{field}[{rows[k]}][{column}]")) for k in inside])
    return n_rows, by_column


def sides(values: Any, n_rows: int, field: str, matrix: str, *, is_lower: bool, is_upper: bool) -> List[Optional[str]]:
    """Returns a right-hand side for each row as JSON. The side of an equation is a lower and an upper bound, and finite."""
    found = vector(values, field)
    if len(found) != n_rows:
        raise InputError(f"found {len(found)} values: expected one for each of {n_rows} rows of {matrix}", field=field)
    if is_lower and is_upper:
        return [quoted(value, f"{field}[{i}]") for i, value in enumerate(found)]
    return [bound(value, f"{field}[{i}]", is_lower=is_lower) for i, value in enumerate(found)]


def column_bounds(bounds: Any, n_columns: int) -> "Tuple[List[Optional[str]], List[Optional[str]], bool]":
    """Returns the lower and the upper bounds as JSON, and ``True`` if one pair was given for all columns."""
    if bounds is None:
        bounds = (0, None)
    if hasattr(bounds, "tolist"):
        bounds = arrays.nested(bounds, "bounds")
    if not isinstance(bounds, (list, tuple)):
        bounds = arrays.rows(bounds, "bounds")
    if len(bounds) == 2 and not any(_is_pair(each) for each in bounds):
        lower, upper = _pair(bounds, "bounds")
        return [lower] * n_columns, [upper] * n_columns, True
    if len(bounds) != n_columns:
        message = f"found {len(bounds)} pairs: expected one pair (lower, upper), or one for each of {n_columns} columns"
        raise InputError(message, field="bounds")
    pairs = [_pair(each, f"bounds[{j}]") for j, each in enumerate(bounds)]
    return [lower for lower, _ in pairs], [upper for _, upper in pairs], False


def _is_pair(value: Any) -> bool:
    return not isinstance(value, str) and hasattr(value, "__len__")


def _pair(pair: Any, field: str) -> Tuple[Optional[str], Optional[str]]:
    if not _is_pair(pair) or len(pair) != 2 or not hasattr(pair, "__getitem__") or isinstance(pair, dict):
        raise InputError(f"found {shown(pair)}: expected a pair (lower, upper)", field=field)
    lower = bound(pair[0], f"{field}[0]", is_lower=True)
    return lower, bound(pair[1], f"{field}[1]", is_lower=False)


def integers(integrality: Any, n_columns: int) -> List[bool]:
    """Returns a list with ``True`` for each integer column. The input has 0 or 1 for each column, or one value for all."""
    if integrality is None:
        return [False] * n_columns
    values = [integrality] * n_columns if isinstance(integrality, (bool, int)) else arrays.rows(integrality, "integrality")
    if len(values) != n_columns:
        raise InputError(f"found {len(values)} values: expected one for each of {n_columns} columns", field="integrality")
    for j, value in enumerate(values):
        if not isinstance(value, (bool, int)) or value not in (0, 1):
            message = f"found {shown(value)}: expected 0 for a continuous column or 1 for an integer column"
            raise InputError(message, field=f"integrality[{j}]")
    return [bool(value) for value in values]


def document(
    *,
    name: str,
    maximise: bool,
    constant: str,
    blocks: List[Block],
    columns: List[str],
    costs: List[str],
    lower: List[Optional[str]],
    upper: List[Optional[str]],
    is_integer: List[bool],
) -> str:
    """Returns the programme as a document. All numbers are JSON."""
    parts = [
        f'{{"kind": "linear-programme", "name": {json.dumps(name)}, '
        f'"direction": "{"maximise" if maximise else "minimise"}", "constant": {constant}, "rows": ['
    ]
    names: List[List[str]] = []
    separator = "\n"
    for block in blocks:
        names.append([json.dumps(of_row) for of_row in block.names])
        for of_row, low, high in zip(names[-1], block.lower, block.upper):
            parts.append(f'{separator}{{"name": {of_row}{_ends(low, high)}}}')
            separator = ",\n"
    parts.append('], "columns": [')
    separator = "\n"
    for j, of_column in enumerate(columns):
        inside = (f"{of_rows[i]}: {value}" for of_rows, block in zip(names, blocks) for i, value in block.entries[j])
        integer = ', "integer": true' if is_integer[j] else ""
        parts.append(
            f'{separator}{{"name": {json.dumps(of_column)}, "cost": {costs[j]}{_ends(lower[j], upper[j])}{integer}, '
            f'"entries": {{{", ".join(inside)}}}}}'
        )
        separator = ",\n"
    parts.append("]}\n")
    return "".join(parts)


def _ends(lower: Optional[str], upper: Optional[str]) -> str:
    low = "" if lower is None else f', "lower": {lower}'
    return low if upper is None else f'{low}, "upper": {upper}'


def relocated(error: InputError, blocks: List[Block], one_pair: bool) -> InputError:
    """Returns the error of the library about the document as an error about the arrays."""
    field = error.field or ""
    match = re.match(r"^(rows|columns)\[(\d+)\]\.(\w+)(.*)$", field)
    if not match:
        return InputError(error.what, field=error.field)
    section, number, inner, rest = match[1], int(match[2]), match[3], match[4]
    if section == "rows":
        for block in blocks:
            if number < len(block.names):
                array = {"lower": block.fields[1], "upper": block.fields[2], "name": "rows"}.get(inner, block.fields[0])
                return InputError(error.what, field=f"{array}[{number}]")
            number -= len(block.names)
    elif inner in ("lower", "upper"):
        at = 0 if inner == "lower" else 1
        return InputError(error.what, field=f"bounds[{at}]" if one_pair else f"bounds[{number}][{at}]")
    elif inner == "entries":
        for block in blocks:
            places: Dict[str, int] = {f".{name}": i for i, name in enumerate(block.names)}
            places.update({f'["{name}"]': i for i, name in enumerate(block.names)})
            if rest in places:
                return InputError(error.what, field=f"{block.fields[0]}[{places[rest]}][{number}]")
    return InputError(error.what, field=f"{'columns' if inner == 'name' else 'c'}[{number}]")
