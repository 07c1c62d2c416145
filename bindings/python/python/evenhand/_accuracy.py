"""The distance of a solver in Python from the exact answer."""

from __future__ import annotations

import os
import time
from fractions import Fraction
from typing import Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Union

from . import _types
from ._allocation import Allocation
from ._problem import Problem, expected_problem


class Measured(NamedTuple):
    """The measurement of a solver on one problem, against the exact answer.

    ``error`` is the distance of the answer from the exact one, in the sense of :attr:`Accuracy.measure`. ``excess`` is the
    largest fraction by which a limit is exceeded. Both are computed in rationals and rounded once.
    """

    problem: str
    error: float
    excess: float
    seconds: float


class Accuracy:
    """The measurements of a solver, by problem."""

    def __init__(self, mechanism: str, rows: List[Measured], measure: str = "totals") -> None:
        self.mechanism = mechanism
        self.rows = rows
        #: The quantity whose error is measured. If the mechanism determines every user's ``totals``, the error is the largest
        #: difference, as a fraction of the user's solo tasks. For other mechanisms it is one of three: ``objective``
        #: is the missed fraction of the greatest weighted sum of tasks, ``criterion`` the largest relative difference of a
        #: user's criterion, and ``axiom`` minus the margin of the axiom with the name of the mechanism.
        self.measure = measure

    @property
    def error(self) -> float:
        """The largest error of a problem."""
        return max((row.error for row in self.rows), default=0.0)

    @property
    def excess(self) -> float:
        """The largest excess of a problem."""
        return max((row.excess for row in self.rows), default=0.0)

    @property
    def seconds(self) -> float:
        """The time for all problems, in seconds."""
        return sum(row.seconds for row in self.rows)

    def to_pandas(self) -> Any:
        from ._extras import need

        return need("pandas", "tables").DataFrame(self.rows, columns=Measured._fields).set_index("problem")

    def _repr_html_(self) -> str:
        from . import _pages

        rows = [[row.problem, f"{row.error:.2e}", f"{row.excess:.2e}", f"{row.seconds:.4f}"] for row in self.rows]
        return _pages.table(Measured._fields, rows[: _pages.MOST], max(0, len(rows) - _pages.MOST))

    def __repr__(self) -> str:
        return (
            f"<Accuracy against {self.mechanism}: {len(self.rows)} problems, error of {self.measure} {self.error:.2e}, "
            f"excess {self.excess:.2e}, {self.seconds:.3f} s>"
        )


def accuracy(
    solver: Callable[[Problem], Any],
    problems: Union[Problem, Iterable[Problem]],
    mechanism: _types.MechanismName = "proportional",
    *,
    progress: _types.Progress = None,
    **settings: Any,
) -> Accuracy:
    """Measures a function from a problem to tasks, users × classes, against a mechanism of the library.

    If the mechanism determines the totals of tasks, the totals are compared; the placements may differ. For mechanisms with
    several answers another quantity is compared, so that each answer has the error 0: the objective for ``utilitarian``, each
    user's criterion for ``generic``, and the axiom for ``njc`` and ``ps-dsf`` (:attr:`Accuracy.measure`).

    >>> import evenhand as eh
    >>> p = eh.Problem.from_arrays([[1.0, 2.0]], [[1, 1], [1, 2]])
    >>> eh.accuracy(lambda problem: [[0.5], [0.5]], p, "drfh").error
    0.0
    """
    if isinstance(problems, (Problem, str, os.PathLike)):
        problems = [expected_problem(problems, "problems")]
    rows = []
    measure = _measure(mechanism, settings)
    for number, given in enumerate(problems):
        problem = expected_problem(given, f"problems[{number}]")
        begun = time.perf_counter()
        tasks = solver(problem)
        seconds = time.perf_counter() - begun
        found = problem.allocation(tasks)
        verdict = found.certify(["feasible"], 0).verdicts["feasible"]
        excess = max(Fraction(0), -(verdict.margin or Fraction(0)))
        if measure == "axiom":
            error = _missed(found, mechanism, excess)
        else:
            error = _difference(problem, found, problem.solve(mechanism, **settings), measure)
        rows.append(Measured(problem.name or str(number), float(error), float(excess), seconds))
        if progress is not None:
            progress(float(len(rows)), None, "problems")
    return Accuracy(mechanism, rows, measure)


#: The mechanisms with several answers, each of which satisfies the axiom of the same name.
_BY_AXIOM = ("njc", "ps-dsf")


def _measure(mechanism: str, settings: Mapping[str, Any]) -> str:
    """Returns the quantity by which answers of the mechanism are compared."""
    if mechanism == "utilitarian":
        return "objective"
    if mechanism == "generic" or settings.get("criterion"):
        return "criterion"
    return "axiom" if mechanism in _BY_AXIOM else "totals"


def _missed(found: Allocation, axiom: str, excess: Fraction) -> Union[Fraction, float]:
    """Returns by how much the axiom is missed, after amounts beyond a limit are cut."""
    if excess >= 1:
        return float("inf")
    verdict = found.certify([axiom], excess).verdicts[axiom]
    return max(Fraction(0), -(verdict.margin or Fraction(0)))


def _difference(problem: Problem, found: Allocation, exact: Allocation, measure: str) -> Fraction:
    if measure == "objective":
        weights = {user["name"]: Fraction(str(user.get("weight", 1))) for user in problem.to_dict()["users"]}
        best, value = (sum(weights[user] * x for user, x in of.totals.items()) for of in (exact, found))
        return _part(best - value, best)
    if measure == "criterion":
        criteria = {user["name"]: user.get("criterion", {}) for user in problem.to_dict()["users"]}
        levels = [_levels(of, criteria) for of in (exact, found)]
        parts = (_part(levels[0][user] - levels[1][user], levels[0][user]) for user in problem.users)
        return max(parts, default=Fraction(0))
    alone, totals, right = problem.alone(), found.totals, exact.totals
    return max((_part(totals[user] - right[user], alone[user]) for user in problem.users), default=Fraction(0))


def _levels(allocation: Allocation, criteria: Mapping[str, Mapping[str, Any]]) -> Dict[str, Fraction]:
    """Returns for each user the sum over classes of its tasks times its criterion on the class."""
    tasks = allocation.tasks

    def level(user: str) -> Fraction:
        of = criteria[user]
        parts = (Fraction(str(of.get(server, 0))) * x for server, x in tasks.get(user, {}).items())
        return sum(parts, Fraction(0))

    return {user: level(user) for user in criteria}


def _part(difference: Fraction, alone: Fraction) -> Fraction:
    return abs(difference) / alone if alone else abs(difference)


