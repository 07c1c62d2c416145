"""Linear programmes of highspy."""

from __future__ import annotations

from typing import Any, List, Optional

from . import _lp_arrays
from ._errors import InputError
from ._lp_programme import Programme

#: HiGHS takes bounds from this size on as infinite.
INFINITE = 1e20


def from_highspy(highs: Any) -> Programme:
    """Makes a programme from a ``highspy.Highs``, its ``HighsModel`` or its ``HighsLp``.

    HiGHS holds doubles. Each double is read as its shortest decimal. A bound of at least 1e20 is infinite, as in
    HiGHS. Columns of HiGHS that have to be integers are marked so. A quadratic objective and semi-continuous columns are refused.

    >>> import evenhand as eh
    >>> import highspy  # doctest: +SKIP
    >>> h = highspy.Highs()  # doctest: +SKIP
    >>> h.readModel("model.mps"), h.run()  # doctest: +SKIP
    >>> print(eh.lp.from_highspy(h).check(h.getSolution()).sentence)  # doctest: +SKIP
    """
    model = highs.getModel() if hasattr(highs, "getModel") else highs
    hessian = getattr(model, "hessian_", None)
    if hessian is not None and any(value != 0 for value in hessian.value_):
        raise InputError("the objective is quadratic: expected a linear programme", field="highs")
    lp = getattr(model, "lp_", model)
    if not hasattr(lp, "a_matrix_"):
        raise InputError(f"found {type(highs).__name__}: expected highspy.Highs, HighsModel or HighsLp", field="highs")
    return _of_lp(lp)


def _of_lp(lp: Any) -> Programme:
    n_rows, n_columns = lp.num_row_, lp.num_col_
    rows = _names(lp.row_names_, n_rows, "r")
    columns = _names(lp.col_names_, n_columns, "x")
    kinds = [getattr(kind, "name", str(kind)) for kind in lp.integrality_]
    for j, kind in enumerate(kinds):
        if kind not in ("kContinuous", "kInteger", "kImplicitInteger"):
            message = f"the column `{columns[j]}` is of the kind {kind}: expected continuous and integer columns"
            raise InputError(message, field=f"integrality_[{j}]")
    block = _lp_arrays.Block(
        ("a_matrix_", "row_lower_", "row_upper_"),
        rows,
        _ends(lp.row_lower_, "row_lower_", is_lower=True),
        _ends(lp.row_upper_, "row_upper_", is_lower=False),
        _entries(lp.a_matrix_, n_columns),
    )
    written = _lp_arrays.document(
        name=str(lp.model_name_),
        maximise=getattr(lp.sense_, "name", "") == "kMaximize",
        constant=_lp_arrays.quoted(float(lp.offset_), "offset_"),
        blocks=[block],
        columns=columns,
        costs=[_lp_arrays.quoted(float(cost), f"col_cost_[{j}]") for j, cost in enumerate(lp.col_cost_)],
        lower=_ends(lp.col_lower_, "col_lower_", is_lower=True),
        upper=_ends(lp.col_upper_, "col_upper_", is_lower=False),
        is_integer=[kind != "kContinuous" for kind in kinds] or [False] * n_columns,
    )
    return Programme.from_text(written)


def _names(given: Any, count: int, prefix: str) -> List[str]:
    """Returns the names of HiGHS if every row or column has its own name, and else ``r0``, ``r1`` and so on."""
    names = list(given)
    if len(names) == count and all(names) and len(set(names)) == count:
        return names
    return [f"{prefix}{at}" for at in range(count)]


def _ends(values: Any, field: str, *, is_lower: bool) -> List[Optional[str]]:
    ends: List[Optional[str]] = []
    for at, value in enumerate(values):
        value = float(value)
        is_infinite = value <= -INFINITE if is_lower else value >= INFINITE
        ends.append(None if is_infinite else _lp_arrays.bound(value, f"{field}[{at}]", is_lower=is_lower))
    return ends


def _entries(matrix: Any, n_columns: int) -> "List[_lp_arrays.Entries]":
    by_column: List[_lp_arrays.Entries] = [[] for _ in range(n_columns)]
    is_by_column = getattr(matrix.format_, "name", "") == "kColwise"
    start, index, values = list(matrix.start_), list(matrix.index_), list(matrix.value_)
    for major in range(len(start) - 1):
        for at in range(start[major], start[major + 1]):
            row, column = (index[at], major) if is_by_column else (major, index[at])
            value = float(values[at])
            if value != 0.0:
                by_column[column].append((int(row), _lp_arrays.quoted(value, f"a_matrix_[{row}][{column}]")))
    return by_column
