"""How far a solver in Python ends from the exact answer."""

from __future__ import annotations

import os
import time
from fractions import Fraction
from typing import Any, Callable, Iterable, List, NamedTuple, Union

from . import _types
from ._problem import Problem, expected_problem


class Measured(NamedTuple):
    """A solver on one problem, against the exact answer.

    ``error`` is the largest difference of a user's tasks from the exact ones, as a part of what the user would have
    alone; ``excess`` the largest part by which a limit is exceeded; both are computed in rationals and rounded once.
    """

    problem: str
    error: float
    excess: float
    seconds: float


class Accuracy:
    """What was measured, problem by problem."""

    def __init__(self, mechanism: str, rows: List[Measured]) -> None:
        self.mechanism = mechanism
        self.rows = rows

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
            f"<Accuracy against {self.mechanism}: {len(self.rows)} problems, error {self.error:.2e}, "
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

    Totals of tasks are compared, which such mechanisms determine; where on the cluster they run may differ.

    >>> import evenhand as eh
    >>> p = eh.Problem.from_arrays([[1.0, 2.0]], [[1, 1], [1, 2]])
    >>> eh.accuracy(lambda problem: [[0.5], [0.5]], p, "drfh").error
    0.0
    """
    if isinstance(problems, (Problem, str, os.PathLike)):
        problems = [expected_problem(problems, "problems")]
    rows = []
    for number, given in enumerate(problems):
        problem = expected_problem(given, f"problems[{number}]")
        begun = time.perf_counter()
        tasks = solver(problem)
        seconds = time.perf_counter() - begun
        found = problem.allocation(tasks)
        exact = problem.solve(mechanism, **settings).totals
        alone, totals = problem.alone(), found.totals
        error = max((_part(totals[user] - exact[user], alone[user]) for user in problem.users), default=Fraction(0))
        verdict = found.certify(["feasible"], 0).verdicts["feasible"]
        excess = max(Fraction(0), -(verdict.margin or Fraction(0)))
        rows.append(Measured(problem.name or str(number), float(error), float(excess), seconds))
        if progress is not None:
            progress(float(len(rows)), None, "problems")
    return Accuracy(mechanism, rows)


def _part(difference: Fraction, alone: Fraction) -> Fraction:
    return abs(difference) / alone if alone else abs(difference)


