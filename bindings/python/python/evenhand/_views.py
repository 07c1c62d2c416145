"""Protocols for the modules that only read problems and allocations, so that they need not import these."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Dict, List, Protocol


class ProblemView(Protocol):
    """The readable part of a problem."""

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
    """The readable part of an allocation."""

    _native: Any

    @property
    def exact(self) -> bool: ...

    @property
    def tasks(self) -> Dict[str, Dict[str, Fraction]]: ...

    @property
    def dominant_shares(self) -> Dict[str, Fraction]: ...

    def to_numpy(self) -> Any: ...
