"""How far a solver in Python ends from the exact answer."""

from __future__ import annotations

import os
import time
from fractions import Fraction
from typing import Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Union

from . import _types
from ._allocation import Allocation
from ._problem import Problem, expected_problem


class Measured(NamedTuple):
    """A solver on one problem, against the exact answer.

    ``error`` says how far the answer is from the exact one, as :attr:`Accuracy.measure` says. ``excess`` is the largest
    part by which a limit is exceeded. Both are computed in rationals and rounded once.
    """

    problem: str
    error: float
    excess: float
    seconds: float


class Accuracy:
    """What was measured, problem by problem."""

    def __init__(self, mechanism: str, rows: List[Measured], measure: str = "totals") -> None:
        self.mechanism = mechanism
        self.rows = rows
        #: What the errors are of. A mechanism with one answer determines every user's ``totals``: the error is the
        #: largest difference, as a part of what the user would have alone. A mechanism with several answers does not:
        #: ``objective`` is the part of the greatest sum of tasks by weight that is missed, ``criterion`` the largest
        #: difference of a user's criterion, as a part of the exact one, and ``axiom`` minus the margin of the axiom of
        #: that name.
        self.measure = measure

    @property
    def error(self) -> float:
        """The largest error."""
        return max((row.error for row in self.rows), default=0.0)

    @property
    def excess(self) -> float:
        """The largest excess."""
        return max((row.excess for row in self.rows), default=0.0)

    @property
    def seconds(self) -> float:
        """The time of all problems."""
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

    Totals of tasks are compared where the mechanism determines them; where on the cluster they run may differ. Of
    ``utilitarian`` the objective is compared, of ``generic`` each user's criterion, and ``njc`` and ``ps-dsf`` are judged
    by their axiom: these have several answers, and all of them have the error 0 (:attr:`Accuracy.measure`).

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


#: Mechanisms with several answers, all of which satisfy the axiom of the same name.
_BY_AXIOM = ("njc", "ps-dsf")


def _measure(mechanism: str, settings: Mapping[str, Any]) -> str:
    """What answers of the mechanism are compared by."""
    if mechanism == "utilitarian":
        return "objective"
    if mechanism == "generic" or settings.get("criterion"):
        return "criterion"
    return "axiom" if mechanism in _BY_AXIOM else "totals"


def _missed(found: Allocation, axiom: str, excess: Fraction) -> Union[Fraction, float]:
    """By how much the axiom is missed, once what exceeds a limit is cut."""
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
    """By user the sum of its tasks by class times its criterion there."""
    tasks = allocation.tasks

    def level(user: str) -> Fraction:
        of = criteria[user]
        parts = (Fraction(str(of.get(server, 0))) * x for server, x in tasks.get(user, {}).items())
        return sum(parts, Fraction(0))

    return {user: level(user) for user in criteria}


def _part(difference: Fraction, alone: Fraction) -> Fraction:
    return abs(difference) / alone if alone else abs(difference)


