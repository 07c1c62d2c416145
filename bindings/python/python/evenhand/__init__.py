"""Fair allocations of several resources, computed and proven in exact arithmetic.

>>> import evenhand as eh
>>> p = eh.Problem.from_arrays(
...     capacity=[[2, 12], [12, 2]], demand=[[0.2, 1], [1, 0.2]], resources=["cpu", "memory"]
... )
>>> a = p.solve("drfh")
>>> a.totals
{'u0': Fraction(10, 1), 'u1': Fraction(10, 1)}
>>> c = a.certify()
>>> c.verdicts["envy-free"].holds
True
>>> c.check(require=["max-min:drfh"])

Start with :class:`Problem`; :func:`compare`, :func:`sweep`, :func:`audit` and :func:`accuracy` take mechanisms of the
library by name, and your own rules (:func:`mechanism`). :mod:`evenhand.lp` solves linear programmes of any kind exactly.
"""

from . import lp
from ._accuracy import Accuracy, Measured, accuracy
from ._allocation import Allocation, Certificate, Explanation, Polished, check
from ._audit import Audit, Audited, Example, Refutation, audit
from ._builder import Builder, build
from ._compare import Column, Comparison, compare
from ._errors import (
    CertificateError,
    DefectError,
    EvenhandError,
    EvenhandWarning,
    InputError,
    LimitError,
    NotApplicable,
    SolverError,
)
from ._evenhand import __version__
from ._limits import limits, set_threads
from ._mechanisms import Mechanism, axioms, mechanisms, properties
from ._problem import Entitlements, Problem
from ._reservation import Monotone, Proven, Reservation, ratio
from ._rules import Rule, mechanism
from ._shown import Result
from ._simulate import Simulation, simulate
from ._sweep import Sweep, sweep
from ._types import MechanismName
from ._verdicts import Verdict, Verdicts

__all__ = [
    "Accuracy", "Allocation", "Audit", "Audited", "Builder", "Certificate", "CertificateError", "Column", "Comparison",
    "DefectError", "Entitlements", "EvenhandError", "EvenhandWarning", "Example", "Explanation", "InputError", "LimitError",
    "Measured", "Mechanism", "MechanismName", "Monotone", "NotApplicable", "Polished", "Problem", "Proven", "Refutation", "Reservation", "Result",
    "Rule", "Simulation", "SolverError", "Sweep", "Verdict", "Verdicts", "__version__", "accuracy", "audit", "axioms",
    "build", "check", "compare", "explain", "limits", "lp", "mechanism", "mechanisms", "properties", "ratio", "set_threads",
    "simulate", "sweep",
]  # fmt: skip


def explain(allocation: Allocation, user: "str | None" = None, *, group: "str | None" = None) -> Explanation:
    """Explains the allocation of a user or a group (:meth:`Allocation.explain`)."""
    return allocation.explain(user, group=group)


# Exceptions show the public name of their module.
for _error in (
    CertificateError, DefectError, EvenhandError, EvenhandWarning, InputError, LimitError, NotApplicable, SolverError,
):  # fmt: skip
    _error.__module__ = "evenhand"
del _error
