"""Linear programmes of any kind: exact answers with proofs, and judgements on the answers of other solvers.

>>> import evenhand as eh
>>> solution = eh.lp.solve([-3, -5], A_ub=[[1, 0], [0, 2], [3, 2]], b_ub=[4, 12, 18])
>>> solution.status, solution.objective, solution.x
('optimal', Fraction(-36, 1), [Fraction(2, 1), Fraction(6, 1)])
>>> solution.y_ub
[Fraction(0, 1), Fraction(-3, 2), Fraction(-1, 1)]
>>> judged = eh.lp.check(solution.programme, [2, 6.000001], y=[0, -1.5, -1], tolerance="1e-9")
>>> print(judged.sentence)
The answer is NOT feasible: row `ub1` is violated by 2.000e-6, which is more than 1.000e-9, the largest violation that is taken for rounding.

A float means its shortest decimal, so 0.1 is one tenth.
"""

from __future__ import annotations

import os
from typing import Any, Optional, Sequence, Union

from ._errors import InputError
from ._lp_cvxpy import from_cvxpy
from ._lp_highspy import from_highspy
from ._lp_programme import Programme
from ._lp_results import Judgement, Solution, Violation
from ._types import Number, Progress

__all__ = ["Judgement", "Programme", "Solution", "Violation", "check", "from_cvxpy", "from_highspy", "read", "solve"]


def solve(
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
    seconds: Optional[Number] = None,
    progress: Progress = None,
) -> Solution:
    """Solves ``min constant + c x`` with ``A_ub x <= b_ub``, ``A_eq x == b_eq`` and ``bounds`` exactly.

    The arguments are those of ``scipy.optimize.linprog``. Each is a list, an array of numpy, a data frame, or a sparse matrix of
    scipy. ``bounds`` is one pair ``(lower, upper)`` or a pair for each column; None and infinite numbers mean no bound. With
    ``maximise`` the objective is maximised. Columns with 1 in ``integrality`` are relaxed, with a warning. After ``seconds`` the
    best proven bounds are the answer. For rows with two sides see :class:`Programme`.

    The prices ``y_ub`` and ``y_eq`` of the result are the change of the objective for one more unit of the right-hand side, as the
    marginals of scipy.

    >>> import evenhand as eh
    >>> from fractions import Fraction
    >>> eh.lp.solve([0.1, "1/3"], A_eq=[[1, 1]], b_eq=[Fraction(3, 7)], maximise=True).objective
    Fraction(1, 7)
    >>> eh.lp.solve([1], A_ub=[[1]], b_ub=[-1]).status
    'infeasible'
    >>> eh.lp.solve([-1]).ray
    [Fraction(1, 1)]
    >>> print(eh.lp.solve([1, 1], [[-1, -2]], [-3]).check())
    valid: 1 claim, each proven
      the optimum is 3/2...
    """
    programme = Programme.from_linprog(
        c, A_ub, b_ub, A_eq, b_eq, bounds, maximise=maximise, constant=constant, integrality=integrality, columns=columns,
    )  # fmt: skip
    return programme._solve(seconds, progress)


def read(source: Union[str, "os.PathLike[str]"]) -> Programme:
    """Reads a programme from a file or from a text: MPS (fixed or free), LP or JSON. A file may be packed by gzip or zstd.

    A text with a line break, or that begins with ``{``, is the programme itself; any other text is a path.

    >>> import evenhand as eh
    >>> p = eh.lp.read('{"kind": "linear-programme", "direction": "maximise", "rows": [], '
    ...                '"columns": [{"name": "a", "cost": 2, "upper": "5/7"}]}')
    >>> p.solve().values
    {'a': Fraction(5, 7)}
    """
    if isinstance(source, str) and ("\n" in source or source.lstrip().startswith("{")):
        return Programme.from_text(source)
    return Programme.from_file(source)


def check(
    programme: Union[Programme, str, "os.PathLike[str]"],
    x: Any,
    y: Any = None,
    objective: Optional[Number] = None,
    tolerance: Number = "1e-6",
    exact: bool = False,
    *,
    progress: Progress = None,
) -> Judgement:
    """Judges an answer of any solver in exact numbers (:meth:`Programme.check`).

    ``programme`` is a :class:`Programme`, or a file or text as in :func:`read`.
    """
    if not isinstance(programme, Programme):
        if not isinstance(programme, (str, os.PathLike)):
            message = f"found {type(programme).__name__}: expected a Programme or a path; eh.lp.from_highspy makes one of highspy"
            raise InputError(message, field="programme")
        programme = read(programme)
    return programme.check(x, y, objective, tolerance, exact, progress=progress)
