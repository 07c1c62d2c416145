"""Instances of fairpyx: agents, items and values.

A divisible good corresponds to a server class that is shared by time: an agent's value of the whole good is the number of
tasks that the agent would run with the whole class.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Dict

from . import _numbers
from ._errors import NotApplicable
from ._extras import need
from ._views import ProblemView


def _exact(value: Any, field: str) -> Fraction:
    return Fraction(_numbers.text(value, field))


def from_instance(instance: Any) -> Dict[str, Any]:
    """Returns the data of the problem for an instance."""
    agents, items = list(instance.agents), list(instance.items)
    servers = [{"name": str(item), "count": _numbers_of_items(instance, item)} for item in items]
    users = []
    for agent in agents:
        if instance.agent_capacity(agent) < len(items):
            raise NotApplicable(f"the agent {agent!r} may not have some of every item: an allocation problem has no such limit")
        values = {str(item): _value(instance, agent, item) for item in items}
        gamma = {item: value for item, value in values.items() if value}
        user: Dict[str, Any] = {"name": str(agent), "servers": list(gamma), "gamma": gamma}
        entitlement = _exact(instance.agent_entitlement(agent), f"entitlement of {agent}")
        if entitlement != 1:
            user["weight"] = entitlement
        users.append(user)
    return {"resources": ["good"], "servers": servers, "users": users}


def _numbers_of_items(instance: Any, item: Any) -> int:
    count = instance.item_capacity(item)
    if count != int(count) or count < 1:
        raise NotApplicable(f"the item {item!r} has the capacity {count}: expected a whole number of at least 1")
    return int(count)


def _value(instance: Any, agent: Any, item: Any) -> Fraction:
    """Returns the agent's value of all copies of the item."""
    value = _exact(instance.agent_item_value(agent, item), f"value of {item} to {agent}")
    return value * _numbers_of_items(instance, item)


def to_instance(problem: ProblemView) -> Any:
    fairpyx = need("fairpyx", "fairpyx")
    data = problem._data()
    counts = {server["name"]: int(Fraction(server.get("count", 1))) for server in data["servers"]}
    valuations: Dict[str, Dict[str, Any]] = {}
    entitlements: Dict[str, Any] = {}
    for user in data.get("users", []):
        gamma = user.get("gamma")
        if gamma is None or "tasks" in user:
            raise NotApplicable(f"the user `{user['name']}` has demands or a limit of tasks: fairpyx supports only values")
        allowed = user.get("servers", list(counts))
        values = {item: Fraction(gamma.get(item, 0)) / counts[item] if item in allowed else Fraction(0) for item in counts}
        valuations[user["name"]] = {item: _number(value) for item, value in values.items()}
        entitlements[user["name"]] = _number(Fraction(user.get("weight", 1)))
    return fairpyx.Instance(valuations=valuations, item_capacities=counts, agent_entitlements=entitlements)


def _number(value: Fraction) -> Any:
    return int(value) if value.denominator == 1 else value
