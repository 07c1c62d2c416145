"""The exact answer of a mechanism beside an allocation from elsewhere."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Dict, Optional

from ._shown import Result

if TYPE_CHECKING:
    from ._allocation import Allocation


class Polished(Result):
    """The exact answer of a mechanism that is nearest to an allocation, and how far it is."""

    def __init__(self, allocation: "Allocation", shown: Any) -> None:
        super().__init__(shown)
        self._allocation = allocation

    @property
    def allocation(self) -> "Allocation":
        """The exact answer."""
        return self._allocation

    @property
    def is_nearest(self) -> bool:
        """Whether no other answer of the mechanism is nearer; otherwise this is the one that it finds."""
        return self.data["is_nearest"]

    @property
    def gap(self) -> Optional[Fraction]:
        """How far the answer is from the optimum at most, where that is irrational."""
        gap = self.data["gap"]
        return None if gap is None else Fraction(gap)

    @property
    def changes(self) -> Dict[str, Fraction]:
        """By user its tasks in the answer, less those that it was given; without zeros."""
        return {user: Fraction(change) for user, change in self.data["changes"].items()}

    @property
    def distance(self) -> Fraction:
        """The largest change of a user's tasks, as a part of what it would have alone."""
        farthest = self.data["farthest"]
        return Fraction(0) if farthest is None else Fraction(farthest["part"])

    @property
    def placements(self) -> Fraction:
        """The largest change on one class, as a part of what the user would have alone."""
        return Fraction(self.data["placements"])

    def __repr__(self) -> str:
        return str(self)
