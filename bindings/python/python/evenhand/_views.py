"""What tables, arrays and pictures read of problems and allocations, so that none of them imports these."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Dict, List, Protocol


class ProblemView(Protocol):
    """A problem, as those see it that only read it."""

    @property
    def name(self) -> str: ...

    @property
    def resources(self) -> List[str]: ...

    @property
    def servers(self) -> List[str]: ...

    @property
    def users(self) -> List[str]: ...

    def to_json(self) -> str: ...

    def _data(self) -> Dict[str, Any]: ...


class AllocationView(Protocol):
    """An allocation, as those see it that only read it."""

    _native: Any

    @property
    def exact(self) -> bool: ...

    @property
    def tasks(self) -> Dict[str, Dict[str, Fraction]]: ...

    @property
    def dominant_shares(self) -> Dict[str, Fraction]: ...

    def to_numpy(self) -> Any: ...
