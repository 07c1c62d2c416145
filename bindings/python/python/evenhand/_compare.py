"""Mechanisms side by side."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from . import _evenhand as native
from . import _numbers, _settings, _types
from ._allocation import Allocation, Certificate
from ._errors import EvenhandError, InputError
from ._limits import granted
from ._mechanisms import mechanisms as known
from ._rules import Rule, rule_of
from ._shown import Result
from ._verdicts import Verdicts

if TYPE_CHECKING:
    from fractions import Fraction

    from ._problem import Problem


class Column:
    """A mechanism, or a given allocation, in a comparison.

    ``failed`` is the reason why there is no allocation, or None.
    """

    def __init__(self, problem: "Problem", name: str, failed: Optional[str], native_column: Any) -> None:
        self.name = name
        self.failed = failed
        self._problem = problem
        self._native = native_column
        self._allocation: Optional[Allocation] = None
        self._certificate: Optional[Certificate] = None

    def _of(self) -> Any:
        if self._native is None:
            raise EvenhandError(f"{self.name} has no allocation: {self.failed}")
        return self._native

    @property
    def allocation(self) -> Allocation:
        if self._allocation is None:
            self._allocation = Allocation(self._problem, self._of().allocation())
        return self._allocation

    @property
    def certificate(self) -> Certificate:
        """The certificate of the column, with verdicts on the axioms of all columns."""
        if self._certificate is None:
            self._certificate = Certificate(self.allocation, self._of().examination())
        return self._certificate

    @property
    def verdicts(self) -> Verdicts:
        return self.certificate.verdicts

    @property
    def price_of_fairness(self) -> "Optional[Fraction]":
        """The most weighted tasks that any allocation could serve, divided by those served here."""
        return self._of().price_of_fairness

    @property
    def least_weighted_share(self) -> "Optional[Fraction]":
        """The least dominant share of a user divided by its weight."""
        return self._of().least_weighted_share

    def __repr__(self) -> str:
        return f"<{self.name}: {self.failed or 'allocated'}>"


class Comparison(Result, Mapping[str, Column]):
    """The columns by name, in the order of the call."""

    def __init__(self, problem: "Problem", native_comparison: Any, failed: Dict[str, str], order: List[str]) -> None:
        self.problem = problem
        self._native = native_comparison
        self._failed = failed
        found = {name: Column(problem, name, why, of) for name, why, of in native_comparison.columns()}
        found.update({name: Column(problem, name, why, None) for name, why in failed.items()})
        self._columns = {name: found[name] for name in order}

    @property
    def _shown(self) -> Any:  # type: ignore[override]
        return self._native.shown()

    def __getitem__(self, name: str) -> Column:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __str__(self) -> str:
        return super().__str__() + "".join(f"{name}: failed: {why}\n" for name, why in self._failed.items())

    def to_html(self, path: Union[None, str, "os.PathLike[str]"] = None) -> str:
        """The self-contained page of ``evenhand report``, with plots and certificates; also written to ``path`` if it is given."""
        page = self._native.page()
        if path is not None:
            from ._files import write

            write(path, page)
        return page

    def to_pandas(self) -> Any:
        """The tasks as doubles, with a row for every user and a column for every mechanism."""
        from ._extras import need

        pandas = need("pandas", "tables")
        columns = {
            name: [float(total) for total in column.allocation.totals.values()]
            for name, column in self._columns.items()
            if column.failed is None
        }
        return pandas.DataFrame(columns, index=pandas.Index(self.problem.users, name="user"))

    def verdicts_to_pandas(self) -> Any:
        """The outcomes, such as ``holds`` or ``violated``, with a row for every axiom and a column for every mechanism."""
        from ._extras import need

        pandas = need("pandas", "tables")
        columns = {
            name: {verdict.name: verdict.outcome for verdict in column.verdicts.values()}
            for name, column in self._columns.items()
            if column.failed is None
        }
        return pandas.DataFrame(columns)

    def plot(self, ax: Any = None) -> Any:
        """Draws the dominant shares divided by weights in ascending order, a line for every column. Returns the axes."""
        from . import _plots

        weights = dict(zip(self.problem.users, self.problem.weights))
        columns = {name: column.allocation for name, column in self.items() if column.failed is None}
        return _plots.comparison(weights, columns, ax)

    def __repr__(self) -> str:
        return f"<Comparison: {', '.join(self._columns)}>"


def compare(
    problem: "Problem",
    mechanisms: "Optional[Sequence[Union[_types.MechanismName, Rule[Any], Callable[..., Any]]]]" = None,
    *,
    allocations: Optional[Mapping[str, Any]] = None,
    axioms: Sequence[str] = (),
    alpha: Optional[_types.Number] = None,
    exact: bool = True,
    tolerance: Optional[_types.Number] = None,
    seconds: float = 60.0,
    progress: _types.Progress = None,
) -> Comparison:
    """Compares mechanisms on one problem: names, rules in Python, and given ``allocations`` by name.

    The default is all mechanisms of the library. Every column is examined by the axioms of all columns.

    >>> import evenhand as eh
    >>> p = eh.Problem.from_arrays([[2, 12], [12, 2]], [["1/5", 1], [1, "1/5"]])
    >>> c = eh.compare(p, ["drfh", "utilitarian"])
    >>> c["drfh"].verdicts["max-min:drfh"].holds
    True
    """
    if isinstance(mechanisms, (str, Rule)) or callable(mechanisms):
        mechanisms = [mechanisms]
    from ._problem import expected_problem

    problem = expected_problem(problem)
    asked: List[Any] = list(known()) if mechanisms is None else list(mechanisms)
    order: List[str] = []
    named: List[str] = []
    given: List[Tuple[str, Any]] = []
    failed: Dict[str, str] = {}
    own = list(axioms)
    for one in asked:
        rule = rule_of(one)
        name = _settings.name(one) if rule is None else rule.name
        if name in order:
            continue
        order.append(name)
        if rule is None:
            named.append(name)
            continue
        try:
            given.append((name, problem._by_rule(rule, {})._native))
        except EvenhandError as error:
            failed[name] = str(error)
        if rule.axiom is not None:
            own.append(rule.axiom)
    for name, tasks in (allocations or {}).items():
        if name in order:
            raise InputError(f"two columns have the name `{name}`: expected different names", field="allocations")
        order.append(name)
        given.append((name, problem.allocation(tasks)._native))
    found = native.compare(
        problem._native, named, given, order, own, _numbers.optional(alpha, "alpha"), exact,
        _numbers.optional(tolerance, "tolerance"), _settings.seconds(seconds) or 0.0, granted(), progress,
    )  # fmt: skip
    return Comparison(problem, found, failed, [_canonical(name, found, failed) for name in order])


def _canonical(name: str, found: Any, failed: Dict[str, str]) -> str:
    """Returns the library's own name of a mechanism that was named by an alias."""
    names = [column[0] for column in found.columns()]
    if name in names or name in failed:
        return name
    return next(of for of in names if of in known())
