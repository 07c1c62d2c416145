"""The mechanisms, axioms and properties of the library."""

from __future__ import annotations

from functools import lru_cache
from typing import Dict, NamedTuple, Tuple

from . import _evenhand as native
from ._types import MechanismName


class Mechanism(NamedTuple):
    """A mechanism of the library."""

    name: MechanismName
    title: str
    equalises: str
    guarantees: str
    reference: str
    settings: Tuple[str, ...]


@lru_cache(maxsize=None)
def mechanisms() -> Dict[MechanismName, Mechanism]:
    """Returns the mechanisms of the library by name.

    >>> import evenhand as eh
    >>> eh.mechanisms()["drfh"].title
    'Dominant Resource Fairness, Heterogeneous'
    """
    rows = (Mechanism(*row[:5], tuple(name.replace("-", "_") for name in row[5])) for row in native.mechanisms())
    return {row.name: row for row in rows}


def axioms() -> Tuple[str, ...]:
    """Returns the names of the axioms that can be examined."""
    return tuple(native.axioms())


def properties() -> Tuple[str, ...]:
    """Returns the names of the properties of mechanisms that :func:`evenhand.audit` can refute."""
    return tuple(native.properties())
