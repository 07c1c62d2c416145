"""Linear programmes of any kind."""

from __future__ import annotations

import os
import warnings
from typing import Any, List, Mapping, Optional, Sequence, Tuple, Union

from . import _arrays as arrays
from . import _evenhand as native
from . import _json, _lp_arrays, _settings
from ._errors import EvenhandWarning, InputError, of_data
from ._limits import granted
from ._lp_answers import stated_values
from ._lp_results import Judgement, Solution
from ._numbers import optional, text
from ._types import Number, Progress

#: A path, or the path as a text.
Path = Union[str, "os.PathLike[str]"]


class Programme:
    """A linear programme: ``row_lower <= A x <= row_upper`` and ``bounds`` on ``x``, with the objective ``constant + c x``.

    ``c`` is a list or an array. ``A`` is a nested list, an array of numpy, a data frame, or a sparse matrix of scipy. A side is
    a list with a number for each row, or None if no row has this side. None, ``inf`` and ``-inf`` mean that there is no bound.
    ``bounds`` is one pair ``(lower, upper)`` for all columns, or a pair for each; the default is ``(0, None)``, as in scipy.
    Columns with 1 in ``integrality`` have to be integers: :meth:`solve` relaxes them, and :meth:`check` judges them.

    A float means its shortest decimal, so 0.1 is one tenth. Fractions, decimals, integers and texts such as ``"3/7"`` are exact.

    >>> import evenhand as eh
    >>> p = eh.lp.Programme(
    ...     [3, 2], [[1, 1], [1, 3]], row_lower=[1, None], row_upper=[4, 6], bounds=[(0, 3), (0, None)], maximise=True
    ... )
    >>> p.solve().values
    {'x0': Fraction(3, 1), 'x1': Fraction(1, 1)}
    """

    def __init__(
        self,
        c: Any,
        A: Any = None,
        row_lower: Any = None,
        row_upper: Any = None,
        bounds: Any = (0, None),
        *,
        maximise: bool = False,
        constant: Number = 0,
        integrality: Any = None,
        rows: Optional[Sequence[str]] = None,
        columns: Optional[Sequence[str]] = None,
        name: str = "",
    ) -> None:
        costs = _lp_arrays.costs(c)
        labels = None if A is None else arrays.names_of(A, "columns")
        n_rows, entries = (0, [[] for _ in costs]) if A is None else _lp_arrays.entries(A, len(costs), "A")
        ends: List[List[Optional[str]]] = []
        for values, field, is_lower in ((row_lower, "row_lower", True), (row_upper, "row_upper", False)):
            if values is None:
                ends.append([None] * n_rows)
            else:
                ends.append(_lp_arrays.sides(values, n_rows, field, "A", is_lower=is_lower, is_upper=not is_lower))
        names = arrays.names(rows, None if A is None else arrays.names_of(A, "index"), n_rows, "r", "rows")
        block = _lp_arrays.Block(("A", "row_lower", "row_upper"), names, ends[0], ends[1], entries)
        self._set(costs, [block], bounds, maximise, constant, integrality, columns, labels, name)

    def _set(
        self,
        costs: List[Any],
        blocks: List[_lp_arrays.Block],
        bounds: Any,
        maximise: bool,
        constant: Any,
        integrality: Any,
        columns: Optional[Sequence[str]],
        labels: Optional[List[str]],
        name: str,
    ) -> None:
        names = arrays.names(columns, labels, len(costs), "x", "columns")
        lower, upper, one_pair = _lp_arrays.column_bounds(bounds, len(costs))
        written = _lp_arrays.document(
            name=name,
            maximise=bool(maximise),
            constant=_lp_arrays.quoted(constant, "constant"),
            blocks=blocks,
            columns=names,
            costs=[_lp_arrays.quoted(cost, f"c[{j}]") for j, cost in enumerate(costs)],
            lower=lower,
            upper=upper,
            is_integer=_lp_arrays.integers(integrality, len(costs)),
        )
        try:
            self._native = native.LinearProgramme.parse("<arrays>", written, granted())
        except InputError as error:
            raise _lp_arrays.relocated(error, blocks, one_pair) from None
        #: The number of rows of ``A_ub``, if the programme was stated by ``A_ub`` and ``A_eq``.
        self._n_ub: Optional[int] = None

    @classmethod
    def _of(cls, native_programme: Any, n_ub: Optional[int] = None) -> "Programme":
        programme = cls.__new__(cls)
        programme._native = native_programme
        programme._n_ub = n_ub
        return programme

    @classmethod
    def from_linprog(
        cls,
        c: Any,
        A_ub: Any = None,
        b_ub: Any = None,
        A_eq: Any = None,
        b_eq: Any = None,
        bounds: Any = (0, None),
        *,
        maximise: bool = False,
        constant: Number = 0,
        integrality: Any = None,
        columns: Optional[Sequence[str]] = None,
        name: str = "",
    ) -> "Programme":
        """Makes a programme from the arguments of ``scipy.optimize.linprog``: ``A_ub x <= b_ub`` and ``A_eq x == b_eq``.

        The rows are called ``ub0``, ``ub1`` and so on, and then ``eq0``, ``eq1`` and so on.
        """
        costs = _lp_arrays.costs(c)
        labels: Optional[List[str]] = None
        blocks: List[_lp_arrays.Block] = []
        for matrix, side, kind in ((A_ub, b_ub, "ub"), (A_eq, b_eq, "eq")):
            if (matrix is None) != (side is None):
                missing, given = (f"A_{kind}", f"b_{kind}") if matrix is None else (f"b_{kind}", f"A_{kind}")
                raise InputError(f"there is none, but {given} is given: expected both or neither", field=missing)
            if matrix is None:
                continue
            labels = labels or arrays.names_of(matrix, "columns")
            n_rows, entries = _lp_arrays.entries(matrix, len(costs), f"A_{kind}")
            upper = _lp_arrays.sides(side, n_rows, f"b_{kind}", f"A_{kind}", is_lower=kind == "eq", is_upper=True)
            lower: List[Optional[str]] = upper if kind == "eq" else [None] * n_rows
            names = [f"{kind}{i}" for i in range(n_rows)]
            blocks.append(_lp_arrays.Block((f"A_{kind}", f"b_{kind}", f"b_{kind}"), names, lower, upper, entries))
        programme = cls.__new__(cls)
        programme._set(costs, blocks, bounds, maximise, constant, integrality, columns, labels, name)
        programme._n_ub = sum(len(block.names) for block in blocks if block.fields[0] == "A_ub")
        return programme

    @classmethod
    def from_text(cls, text: str) -> "Programme":
        """Reads a programme from the text of an MPS, LP or JSON file."""
        return cls._of(native.LinearProgramme.parse("<text>", text, granted()))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Programme":
        """Reads a programme from data in the form of a JSON file. ``kind`` and ``direction`` may be left out.

        >>> import evenhand as eh
        >>> p = eh.lp.Programme.from_dict({
        ...     "rows": [{"name": "sum", "lower": 1, "upper": 2}],
        ...     "columns": [{"name": "a", "cost": 1, "lower": 0, "entries": {"sum": 1}},
        ...                 {"name": "b", "cost": "1/3", "lower": 0, "entries": {"sum": 1}}],
        ... })
        >>> p.solve().objective
        Fraction(1, 3)
        """
        if not isinstance(data, Mapping):
            raise InputError(f"found {type(data).__name__}: expected a dict")
        data = {"kind": "linear-programme", "direction": "minimise", **data}
        try:
            return cls._of(native.LinearProgramme.parse("<dict>", _json.dumps(data), granted()))
        except InputError as error:
            raise of_data(error) from None

    @classmethod
    def from_file(cls, path: Path) -> "Programme":
        """Reads an MPS, LP or JSON file, also packed by gzip or zstd."""
        return cls._of(native.LinearProgramme.read(os.fspath(path), granted()))

    # --- properties ----------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return self._native.name

    @property
    def maximise(self) -> bool:
        """``True`` if the objective is maximised."""
        return self._native.maximises

    @property
    def rows(self) -> Tuple[str, ...]:
        """The names of the rows."""
        return tuple(self._native.rows)

    @property
    def columns(self) -> Tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._native.columns)

    @property
    def integers(self) -> Tuple[str, ...]:
        """The names of the columns that have to be integers."""
        return tuple(self._native.integers)

    @property
    def shape(self) -> Tuple[int, int]:
        """The numbers of rows and columns."""
        n_rows, n_columns, _ = self._native.size
        return n_rows, n_columns

    @property
    def sha256(self) -> str:
        """The hash that certificates name. It does not depend on the order of rows and columns."""
        return self._native.sha256()

    def to_json(self) -> str:
        """The document of the programme."""
        return self._native.to_json()

    def to_file(self, path: Path) -> None:
        """Writes the document of the programme."""
        from ._files import write

        write(path, self.to_json())

    # --- answers -------------------------------------------------------------------------------------------------

    def solve(self, *, seconds: Optional[Number] = None, progress: Progress = None) -> Solution:
        """Solves the programme exactly.

        After ``seconds`` the best proven bounds are the answer, with the status ``limit``. Columns that have to be integers are
        relaxed, with a warning.
        """
        return self._solve(seconds, progress)

    def _solve(self, seconds: Optional[Number], progress: Progress) -> Solution:
        if self._native.integers:
            message = "some columns have to be integers: the answer is that of the relaxation without this"
            warnings.warn(message, EvenhandWarning, stacklevel=3)
        return Solution(self, self._native.solve(_settings.seconds(seconds), granted(), progress))

    def check(
        self,
        x: Any,
        y: Any = None,
        objective: Optional[Number] = None,
        tolerance: Number = "1e-6",
        exact: bool = False,
        *,
        progress: Progress = None,
    ) -> Judgement:
        """Judges an answer of any solver, in exact numbers.

        ``x`` is one of these:

        - the values by column, as a list, an array or a dict by name;
        - the path of a solution file of HiGHS, SCIP, Gurobi, CPLEX, glpsol or MIPLIB;
        - a solution of highspy (``Highs.getSolution()``), which has prices as well;
        - a :class:`Solution`.

        ``y`` are the prices (dual values) by row, each as the change of the objective for one more unit of the right-hand side,
        as HiGHS and scipy state them. From these a bound on the optimum is proven, whatever they are. With ``exact`` the
        programme is solved, and the objective compared with the optimum. ``tolerance`` is the largest violation, and the largest
        gap relative to the objective, that are taken for rounding.

        >>> import evenhand as eh
        >>> p = eh.lp.Programme.from_linprog([-3, -5], [[1, 0], [0, 2], [3, 2]], [4, 12, 18])
        >>> judged = p.check([2.000000001, 6], [0, -1.5, -1])
        >>> judged.row_violation
        Violation(kind='row', name='ub2', by=Fraction(3, 1000000000))
        >>> bool(judged), bool(p.check([3, 6]))
        (True, False)
        """
        limit, is_exact = text(tolerance, "tolerance"), bool(exact)
        if isinstance(x, (str, os.PathLike)):
            if y is not None or objective is not None:
                raise InputError("the file states the answer: expected no other prices and no objective", field="x")
            return Judgement(self._native.check_file(os.fspath(x), limit, is_exact, granted(), progress))
        if isinstance(x, Solution):
            x, y, objective = _of_solution(x, y, objective)
        elif hasattr(x, "col_value"):
            if not x.value_valid:
                raise InputError("the solution of highspy has no values: expected an answer with values", field="x")
            y = x.row_dual if y is None and x.dual_valid else y
            x = x.col_value
        values, missing = stated_values(x, self.columns, "x", "columns")
        # A row without a price has the price 0.
        prices = None if y is None else stated_values(y, self.rows, "y", "rows")[0]
        stated = optional(objective, "objective")
        return Judgement(self._native.check(values, prices, stated, missing, limit, is_exact, granted(), progress))

    def __repr__(self) -> str:
        n_rows, n_columns, n_entries = self._native.size
        named = f" {self.name}" if self.name else ""
        return f"<Programme{named}: {n_rows} rows, {n_columns} columns, {n_entries} entries>"

    def __reduce__(self) -> Any:
        return _loaded, (self.to_json(), self._n_ub)


def _loaded(written: str, n_ub: Optional[int]) -> Programme:
    return Programme._of(native.LinearProgramme.parse("<pickle>", written, granted()), n_ub)


def _of_solution(solution: Solution, y: Any, objective: Any) -> Tuple[Any, Any, Any]:
    if solution.x is None:
        raise InputError(f"the solution has the status `{solution.status}` and no values: expected an answer with values", field="x")
    return solution.x, solution.y if y is None else y, solution.objective if objective is None else objective
