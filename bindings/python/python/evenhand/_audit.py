"""Audits of mechanisms."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Callable, Dict, NamedTuple, Sequence, Union

from . import _evenhand as native
from . import _settings, _types
from ._allocation import Allocation, Certificate
from ._limits import granted
from ._problem import Problem
from ._rules import Rule, rule_of
from ._shown import Result


class Example(NamedTuple):
    """The smallest problem found on which an axiom is violated."""

    problem: Problem
    allocation: Allocation
    certificate: Certificate


class Refutation(NamedTuple):
    """Two problems that differ in one change and refute a property."""

    problem: Problem
    changed: Problem
    change: str
    user: str
    before: Fraction
    after: Fraction


class Audited(NamedTuple):
    """The result for an axiom or a property: how often it was decided and violated, and the smallest violation."""

    name: str
    decided: int
    violated: int
    example: Any


class Audit(Result):
    """The result of an audit. An audit without violations proves nothing."""

    def __init__(self, name: str, shown: Any, axioms: Any, properties: Any) -> None:
        super().__init__(shown)
        self.name = name
        self.axioms: Dict[str, Audited] = {}
        self.properties: Dict[str, Audited] = {}
        for axiom, decided, violated, broken in axioms:
            self.axioms[axiom] = Audited(axiom, decided, violated, None if broken is None else _example(*broken))
        for of, tried, refuted, two in properties:
            self.properties[of] = Audited(of, tried, refuted, None if two is None else _refutation(*two))

    @property
    def violated(self) -> Dict[str, Audited]:
        """The axioms and properties that were violated."""
        found = {**self.axioms, **self.properties}
        return {name: each for name, each in found.items() if each.violated}

    @property
    def data(self) -> Dict[str, Any]:
        data = super().data
        data["mechanism"] = self.name
        return data

    def to_pandas(self) -> Any:
        """A row for every axiom and property."""
        from ._extras import need

        rows = [
            {
                "name": each.name,
                "decided": each.decided,
                "violated": each.violated,
                "users of the example": None if each.example is None else len(each.example.problem.users),
            }
            for each in (*self.axioms.values(), *self.properties.values())
        ]
        return need("pandas", "tables").DataFrame(rows).set_index("name")

    def __str__(self) -> str:
        return super().__str__().replace("python on ", f"{self.name} on ", 1)


def _example(problem: Any, allocation: Any, examination: Any) -> Example:
    of = Problem(problem)
    made = Allocation(of, allocation)
    return Example(of, made, Certificate(made, examination))


def _refutation(problem: Any, changed: Any, change: str, user: str, before: str, after: str) -> Refutation:
    return Refutation(Problem(problem), Problem(changed), change, user, Fraction(before), Fraction(after))


#: The axioms to examine for a rule in Python by default, in addition to the axiom that it is made to satisfy.
USUAL = ("feasible", "work-conserving", "pareto-optimal", "envy-free", "sharing-incentive")


def audit(
    mechanism: "Union[_types.MechanismName, Rule[Any], Callable[..., Any]]",
    *,
    axioms: Sequence[str] = (),
    properties: Sequence[str] = (),
    instances: int = 1_000,
    seed: int = 0,
    users: int = 4,
    servers: int = 3,
    resources: int = 3,
    progress: _types.Progress = None,
    **settings: Any,
) -> Audit:
    """Searches for small problems on which a mechanism violates an axiom or a property.

    The mechanism is a name, or a rule in Python. A rule raises :class:`evenhand.NotApplicable` if it is not defined for a
    problem; any other exception ends the audit.

    >>> import evenhand as eh
    >>> found = eh.audit("utilitarian", instances=40)
    >>> "envy-free" in found.violated
    True
    >>> len(found.violated["envy-free"].example.problem.users)
    2
    """
    rule = rule_of(mechanism)
    own = list(axioms)
    if rule is None:
        name, function, stated = _settings.name(mechanism), None, _settings.texts(settings)
    else:
        name, stated = rule.name, []
        if not own and rule.axiom is not None:
            own = [*USUAL, rule.axiom]

        def function(problem: Any) -> Any:
            return Problem(problem)._by_rule(rule, settings)._native

    found = native.audit(
        name, function, stated, own, list(properties), _settings.count(instances, "instances"), _settings.seed(seed),
        (_settings.count(users, "users"), _settings.count(servers, "servers"), _settings.count(resources, "resources")), granted(), progress,
    )  # fmt: skip
    return Audit(name, *found)

