"""Exact answers of linear programmes, and judgements on answers."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional

from ._errors import LimitError
from ._types import LpStatus

if TYPE_CHECKING:
    from ._lp_programme import Programme


class Solution:
    """The exact answer of a linear programme, with its proof.

    ``status`` says what is proven:

    - ``optimal``: ``x`` is an optimum, ``objective`` its value, and ``y`` are prices that prove it.
    - ``infeasible``: no point is feasible. ``farkas`` are the prices that prove it, or ``empty`` is the row or column whose
      lower bound is above its upper bound.
    - ``unbounded``: from the feasible point ``x`` the objective improves for ever along ``ray``.
    - ``limit``: the time was up. ``x`` and ``objective`` are those of a feasible point and ``bound`` is a proven bound on the
      optimum, each if one is known.

    The price of a row is the change of the objective for one more unit of the right-hand side, in the direction in which the
    objective is stated. In a minimisation the prices of ``A_ub x <= b_ub`` are at most 0; in a maximisation at least 0. The
    reduced cost of a column is the change of the objective for one more unit of this variable.
    """

    def __init__(self, programme: "Programme", native_answer: Any) -> None:
        #: The programme that was solved.
        self.programme = programme
        self._native = native_answer
        self.status: LpStatus = native_answer.status
        self.objective: Optional[Fraction] = native_answer.objective
        #: The proven bound on the objective: the objective of an optimum, or the best bound when the time was up.
        self.bound: Optional[Fraction] = native_answer.bound
        #: The values by column.
        self.x: Optional[List[Fraction]] = native_answer.x()
        #: The prices by row.
        self.y: Optional[List[Fraction]] = native_answer.y()
        #: By row: prices that prove that no point is feasible. The rows, multiplied by them and added, contradict the bounds.
        self.farkas: Optional[List[Fraction]] = native_answer.farkas()
        #: By column: the direction in which the objective improves for ever.
        self.ray: Optional[List[Fraction]] = native_answer.ray()
        #: The row or column whose lower bound is above its upper bound, such as ``row r3``.
        self.empty: Optional[str] = None if native_answer.empty is None else " ".join(native_answer.empty)
        #: The numbers of rounds of refinement and of exact pivots.
        self.refinements: int
        self.pivots: int
        self.refinements, self.pivots = native_answer.work

    @property
    def y_ub(self) -> Optional[List[Fraction]]:
        """The prices of the rows of ``A_ub``; None if the programme was not stated by ``A_ub`` and ``A_eq``."""
        n_ub = self.programme._n_ub
        return None if self.y is None or n_ub is None else self.y[:n_ub]

    @property
    def y_eq(self) -> Optional[List[Fraction]]:
        """The prices of the rows of ``A_eq``; None if the programme was not stated by ``A_ub`` and ``A_eq``."""
        n_ub = self.programme._n_ub
        return None if self.y is None or n_ub is None else self.y[n_ub:]

    @property
    def reduced_costs(self) -> Optional[List[Fraction]]:
        """By column: the change of the objective for one more unit of the variable, the prices of rows unchanged."""
        return self._native.reduced_costs()

    @property
    def values(self) -> Optional[Dict[str, Fraction]]:
        """The values by the names of columns."""
        return None if self.x is None else dict(zip(self.programme.columns, self.x))

    @property
    def prices(self) -> Optional[Dict[str, Fraction]]:
        """The prices by the names of rows."""
        return None if self.y is None else dict(zip(self.programme.rows, self.y))

    @property
    def relaxed(self) -> bool:
        """``True`` if columns have to be integers, which the answer ignores."""
        return bool(self.programme.integers)

    def certificate(self) -> str:
        """The certificate: the programme with its answer and the proof, as JSON for ``evenhand-check``.

        Raises :class:`evenhand.LimitError` if the time was up, because then there is no proof.
        """
        text = self._native.certificate()
        if text is None:
            raise LimitError("the time was up, so there is no certificate: allow more seconds")
        return text

    def check(self) -> str:
        """Has the kernel check the certificate, by code that shares nothing with the solver.

        Returns the verdict in words. Raises :class:`evenhand.CertificateError` if the kernel refuses the certificate.
        """
        from ._allocation import check

        return check(self.certificate(), require=[self.status])

    def to_json(self) -> str:
        """The document of the answer, as ``evenhand lp solve --output`` writes it. Its prices are of the minimised programme."""
        return self._native.to_json()

    def __str__(self) -> str:
        return self._native.words()

    def __repr__(self) -> str:
        return f"<Solution: {self.status}{'' if self.objective is None else f', objective {_short(self.objective)}'}>"


class Violation(NamedTuple):
    """A violation: ``by`` how much, and the row or column where it is."""

    #: ``row`` or ``column``.
    kind: str
    name: str
    by: Fraction


class Judgement:
    """The judgement on an answer of a linear programme, in exact numbers.

    The violations are the largest of their kind, or None if there is none. ``bool()`` is ``accepted``, and ``str()`` is the
    output of ``evenhand lp check``.
    """

    def __init__(self, native_judgement: Any) -> None:
        self._native = native_judgement
        #: ``True`` if the answer is feasible and optimal within the tolerance, as far as that is known.
        self.accepted: bool = native_judgement.accepted
        #: The verdict in one sentence.
        self.sentence: str = native_judgement.sentence
        #: The exact objective of the answer.
        self.objective: Fraction = native_judgement.objective
        #: The stated objective minus the exact one; None if none was stated.
        self.objective_error: Optional[Fraction] = native_judgement.objective_error
        #: The bound on the optimum that the prices prove; None without prices, or if a price needs an infinite bound.
        self.bound: Optional[Fraction] = native_judgement.bound
        #: The distance of the objective from the exact optimum if the exact optimum was requested, and otherwise from ``bound``.
        #: It is negative for an answer that is better than every feasible point, which only violations allow.
        self.gap: Optional[Fraction] = native_judgement.gap
        #: The exact optimum, if it was requested and exists.
        self.optimum: Optional[Fraction] = native_judgement.optimum
        self.tolerance: Fraction = native_judgement.tolerance
        #: The number of columns without a value, which are taken as 0.
        self.missing: int = native_judgement.missing
        #: The largest violation of a row.
        self.row_violation: Optional[Violation]
        #: The largest violation of a bound of a column.
        self.bound_violation: Optional[Violation]
        #: The largest distance of an integer column from an integer.
        self.integrality_violation: Optional[Violation]
        #: The largest price or reduced cost that needs an infinite bound.
        self.dual_violation: Optional[Violation]
        #: The largest product of a price and the distance from the bound that belongs to it.
        self.complementarity: Optional[Violation]
        (
            self.row_violation, self.bound_violation, self.integrality_violation, self.dual_violation, self.complementarity,
        ) = (None if of is None else Violation(of[0][0], of[0][1], of[1]) for of in native_judgement.violations())  # fmt: skip

    def to_json(self) -> str:
        """The document, as ``evenhand --format json lp check`` prints it."""
        return self._native.to_json()

    @property
    def data(self) -> Dict[str, Any]:
        """The document as dicts and lists, with exact numbers as texts."""
        return json.loads(self.to_json())

    def __bool__(self) -> bool:
        return self.accepted

    def __str__(self) -> str:
        return self._native.words()

    def __repr__(self) -> str:
        return f"<Judgement: {self.sentence}>"


def _short(value: Fraction) -> str:
    try:
        return f"{float(value):.6g}"
    except OverflowError:
        return "beyond double precision"
