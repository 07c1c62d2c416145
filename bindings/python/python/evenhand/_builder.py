"""Problems in the notation of papers."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from ._errors import InputError
from ._problem import Problem

Amounts = Union[Mapping[str, Any], Sequence[Any]]


class Builder:
    """A builder of a problem. Amounts are dicts by resource, or vectors in the order of the resources.

    The first example of the DRFH paper:

    >>> import evenhand as eh
    >>> p = (
    ...     eh.build("DRFH, Figure 1", resources=["cpu", "memory"])
    ...     .server("high-memory", (2, 12))
    ...     .server("high-cpu", (12, 2))
    ...     .user("user 1", ("1/5", 1))
    ...     .user("user 2", (1, "1/5"))
    ...     .problem()
    ... )
    >>> p.solve("drfh").totals
    {'user 1': Fraction(10, 1), 'user 2': Fraction(10, 1)}
    """

    def __init__(self, name: str = "", *, resources: Sequence[str] = ()) -> None:
        self._name = name
        self._resources = list(resources)
        self._servers: List[Dict[str, Any]] = []
        self._users: List[Dict[str, Any]] = []
        self._groups: List[Dict[str, Any]] = []
        self._share: Optional[Dict[str, Any]] = None

    def _amounts(self, amounts: Amounts, field: str) -> Dict[str, Any]:
        if isinstance(amounts, Mapping):
            return dict(amounts)
        values = list(amounts)
        if len(values) != len(self._resources):
            message = f"found {len(values)} numbers: expected one for each of {len(self._resources)} resources"
            raise InputError(message, field=field)
        return dict(zip(self._resources, values))

    def server(self, name: str, capacity: Amounts, *, count: Any = None) -> "Builder":
        """Adds a class of ``count`` identical servers, each with this capacity."""
        server = {"name": name, "capacity": self._amounts(capacity, f"servers[{len(self._servers)}].capacity")}
        if count is not None:
            server["count"] = count
        self._servers.append(server)
        return self

    def user(
        self,
        name: str,
        demand: Optional[Amounts] = None,
        *,
        weight: Any = None,
        tasks: Any = None,
        servers: Optional[Sequence[str]] = None,
        demand_on: Optional[Mapping[str, Amounts]] = None,
        gamma: Optional[Mapping[str, Any]] = None,
        criterion: Optional[Mapping[str, Any]] = None,
        rates: Optional[Mapping[str, Any]] = None,
        at_most: Any = None,
        group: Optional[str] = None,
        gang: Any = None,
        pinned: Any = None,
    ) -> "Builder":
        """Adds a user, with the demand of one of its tasks."""
        at = f"users[{len(self._users)}]"
        user: Dict[str, Any] = {"name": name}
        if demand is not None:
            user["demand"] = self._amounts(demand, f"{at}.demand")
        if demand_on is not None:
            each = demand_on.items()
            user["demand_on"] = {of: self._amounts(amounts, f"{at}.demand_on.{of}") for of, amounts in each}
        stated = {
            "weight": weight, "tasks": tasks, "servers": None if servers is None else list(servers), "gamma": gamma,
            "criterion": criterion, "rates": rates, "at_most": at_most, "group": group, "gang": gang, "pinned": pinned,
        }  # fmt: skip
        user.update({field: value for field, value in stated.items() if value is not None})
        self._users.append(user)
        return self

    def group(
        self,
        name: str,
        *,
        parent: Optional[str] = None,
        weight: Any = None,
        priority: Any = None,
        guarantee: Optional[Amounts] = None,
        limit: Optional[Amounts] = None,
        lend: Optional[Amounts] = None,
        on: Any = None,
    ) -> "Builder":
        """Adds a group of users, such as a queue or a team, inside ``parent`` or at the top."""
        at = f"groups[{len(self._groups)}]"
        group: Dict[str, Any] = {"name": name}
        amounts = {"guarantee": guarantee, "limit": limit, "lend": lend}
        group.update({of: self._amounts(a, f"{at}.{of}") for of, a in amounts.items() if a is not None})
        stated = {"parent": parent, "weight": weight, "priority": priority, "on": on}
        group.update({field: value for field, value in stated.items() if value is not None})
        self._groups.append(group)
        return self

    def share(self, **share: Any) -> "Builder":
        """Sets the share that compares groups: ``of``, ``over``, ``multipliers``, ``families``, ``zero_weight``, ``guarantees``."""
        self._share = {key.replace("_", "-"): value for key, value in share.items()}
        return self

    def problem(self) -> Problem:
        """Checks the parts and returns the problem."""
        data: Dict[str, Any] = {"resources": self._resources, "servers": self._servers, "users": self._users}
        if self._name:
            data["name"] = self._name
        if self._groups:
            data["groups"] = self._groups
        if self._share is not None:
            data["share"] = self._share
        return Problem.from_dict(data)


def build(name: str = "", *, resources: Sequence[str] = ()) -> Builder:
    """Returns an empty :class:`Builder` of a problem."""
    return Builder(name, resources=resources)
