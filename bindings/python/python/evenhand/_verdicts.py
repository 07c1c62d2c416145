"""Verdicts on axioms."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Dict, Optional

from ._types import Outcome


class Verdict:
    """The verdict on one axiom.

    ``holds`` is True, False, or None if the axiom does not apply or was not decided. ``outcome`` is one of ``holds``,
    ``within``, ``violated``, ``not-applicable`` and ``not-checked``, and ``why`` is a reason. ``margin`` is the distance from
    a violation, as a fraction of a user's solo tasks; it is negative for a violation. If ``is_bound``, the true margin
    of a violation may be even lower. ``in_tasks`` is the margin in tasks of the user that it is about.
    """

    __slots__ = ("_examination", "_least", "in_tasks", "is_bound", "margin", "name", "outcome", "why", "holds")

    def __init__(self, examination: Any, row: Any) -> None:
        self.name: str
        self.holds: Optional[bool]
        self.outcome: Outcome
        self.margin: Optional[Fraction]
        self.in_tasks: Optional[Fraction]
        self.why: Optional[str]
        self.is_bound: bool
        self.name, self.holds, self.outcome, self.margin, self.in_tasks, self.why, self.is_bound = row
        self._examination = examination
        self._least: Any = _UNKNOWN

    @property
    def least_tolerance(self) -> Optional[Fraction]:
        """The exact least tolerance at which the axiom holds. Its computation may take as long as the examination.

        None if no tolerance below 1 suffices, or if the axiom does not apply.
        """
        if self._least is _UNKNOWN:
            is_known = self.holds is True and self.margin is not None and self.margin >= 0
            is_exact = is_known and not self._examination.infeasible and self._examination.repair == 0
            self._least = Fraction(0) if is_exact else self._asked()
        return self._least

    def _asked(self) -> Optional[Fraction]:
        return None if self.outcome == "not-applicable" else self._examination.least_tolerance(self.name)

    def __bool__(self) -> bool:
        return self.holds is True

    def __repr__(self) -> str:
        margin = "" if self.margin is None else f", margin {float(self.margin):.6g}"
        return f"<{self.name}: {self.outcome}{margin}>"


_UNKNOWN = object()


class Verdicts(Dict[str, Verdict]):
    """The verdicts by axiom. The key of an axiom with a parameter may omit the parameter, if the name is unique."""

    def __missing__(self, name: str) -> Verdict:
        same_name = [key for key in self if key.split(":")[0] == name]
        if len(same_name) == 1:
            return self[same_name[0]]
        raise KeyError(name)
