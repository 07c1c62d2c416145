"""A problem from arrays."""

from __future__ import annotations

import json
import re
from typing import Any, Dict, List, Optional

from . import _arrays as arrays
from ._errors import InputError
from ._numbers import token


def text(
    capacity: Any,
    demand: Any,
    *,
    weights: Any,
    tasks: Any,
    eligible: Any,
    counts: Any,
    resources: Any,
    servers: Any,
    users: Any,
    name: str,
) -> str:
    """Returns the problem as a document."""
    of_columns = arrays.names_of(capacity, "columns") or arrays.names_of(demand, "columns")
    of_servers, of_users = arrays.names_of(capacity, "index"), arrays.names_of(demand, "index")
    capacities = arrays.matrix(_list(arrays.nested(capacity, "capacity"), "capacity"), None, "capacity", "resources")
    n_servers, n_resources = arrays.shape(capacities)
    if n_servers == 0 or n_resources == 0:
        raise InputError(f"found {n_servers} classes and {n_resources} resources: expected at least one of each", field="capacity")
    demands = _list(arrays.nested(demand, "demand"), "demand")
    n_users = len(demands)
    resource_names = arrays.names(resources, of_columns, n_resources, "r", "resources")
    server_names = arrays.names(servers, of_servers, n_servers, "s", "servers")
    user_names = arrays.names(users, of_users, n_users, "u", "users")
    own = None if counts is None else arrays.vector(counts, n_servers, "counts", "classes")
    classes = []
    for i, row in enumerate(capacities):
        fields = [f'"name": {json.dumps(server_names[i])}']
        if own is not None:
            fields.append(f'"count": {token(own[i], f"counts[{i}]")}')
        fields.append(f'"capacity": {_amounts(row, resource_names, f"capacity[{i}]")}')
        classes.append("{" + ", ".join(fields) + "}")
    axes = arrays.depth(demands)
    if axes not in (2, 3):
        message = f"found {axes} axes: expected users × resources, or users × classes × resources"
        raise InputError(message, field="demand")
    extra = _Extra(weights, tasks, eligible, server_names, n_users)
    members = []
    if axes == 2:
        for n, row in enumerate(arrays.matrix(demands, n_resources, "demand", "resources")):
            fields = [f'"demand": {_amounts(row, resource_names, f"demand[{n}]")}', *extra.of(n)]
            members.append(f'{{"name": {json.dumps(user_names[n])}, {", ".join(fields)}}}')
    else:
        for n, rows in enumerate(demands):
            field = f"demand[{n}]"
            if len(rows) != n_servers:
                raise InputError(f"found {len(rows)} rows: expected one for each of {n_servers} classes", field=field)
            each = []
            for i, row in enumerate(arrays.matrix(rows, n_resources, field, "resources")):
                each.append(f"{json.dumps(server_names[i])}: {_amounts(row, resource_names, f'{field}[{i}]')}")
            fields = [f'"demand_on": {{{", ".join(each)}}}', *extra.of(n)]
            members.append(f'{{"name": {json.dumps(user_names[n])}, {", ".join(fields)}}}')
    named = f'"name": {json.dumps(name)}, ' if name else ""
    return (
        f'{{"kind": "allocation-problem", {named}"resources": {json.dumps(resource_names)}, '
        f'"servers": [{", ".join(classes)}], "users": [{", ".join(members)}]}}'
    )


def _list(values: Any, field: str) -> List[Any]:
    if not isinstance(values, list):
        raise InputError(f"found {values!r}: expected an array", field=field)
    return values


class _Extra:
    """The fields of users other than their demands."""

    def __init__(self, weights: Any, tasks: Any, eligible: Any, servers: List[str], n_users: int) -> None:
        self.servers = servers
        self.weights = None if weights is None else arrays.vector(weights, n_users, "weights", "users")
        self.tasks = None if tasks is None else arrays.vector(tasks, n_users, "tasks", "users")
        self.eligible = None if eligible is None else arrays.rows(eligible, "eligible")
        if self.eligible is not None and len(self.eligible) != n_users:
            message = f"found {len(self.eligible)} rows: expected one for each of {n_users} users"
            raise InputError(message, field="eligible")

    def of(self, n: int) -> List[str]:
        fields = []
        if self.weights is not None:
            fields.append(f'"weight": {arrays.amount(self.weights[n], f"weights[{n}]")}')
        if self.tasks is not None and not _is_unlimited(self.tasks[n]):
            fields.append(f'"tasks": {arrays.amount(self.tasks[n], f"tasks[{n}]")}')
        if self.eligible is not None:
            fields.append(f'"servers": {json.dumps(self.allowed(self.eligible[n], f"eligible[{n}]"))}')
        return fields

    def allowed(self, row: Any, field: str) -> List[str]:
        values = arrays.rows(row, field)
        if values and all(isinstance(value, str) for value in values):
            unknown = [value for value in values if value not in self.servers]
            if unknown:
                raise InputError(f"there is no server class `{unknown[0]}`", field=field)
            return values
        if len(values) != len(self.servers):
            message = f"found {len(values)} values: expected one for each of {len(self.servers)} classes"
            raise InputError(message, field=field)
        for i, value in enumerate(values):
            if not isinstance(value, (bool, int, float)) or value not in (0, 1):
                raise InputError(f"found {value!r}: expected true or false", field=f"{field}[{i}]")
        return [name for name, value in zip(self.servers, values) if value]


def _is_unlimited(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value == float("inf"))


def _amounts(row: List[Any], resources: List[str], field: str) -> str:
    each = (
        f"{json.dumps(name)}: {arrays.amount(value, f'{field}[{r}]')}" for r, (name, value) in enumerate(zip(resources, row))
    )
    return "{" + ", ".join(each) + "}"


def relocated(error: InputError, resources: List[str], servers: List[str]) -> InputError:
    """Returns the error of the library about the document as an error about the arrays."""
    match = re.match(r"^(servers|users)\[(\d+)\](?:\.(\w+))?(.*)$", error.field or "")
    if not match:
        return InputError(error.what, field=error.field)
    section, number, field, rest = match.groups()
    array = {
        ("servers", "capacity"): "capacity", ("servers", "count"): "counts", ("servers", "name"): "servers",
        ("users", "demand"): "demand", ("users", "demand_on"): "demand", ("users", "weight"): "weights",
        ("users", "tasks"): "tasks", ("users", "servers"): "eligible", ("users", "name"): "users",
    }.get((section, field or ""), "capacity" if section == "servers" else "demand")  # fmt: skip
    places: Dict[str, int] = {f".{name}": r for r, name in enumerate(resources)}
    places.update({f'["{name}"]': r for r, name in enumerate(resources)})
    inner: Optional[str] = None
    if field == "demand_on":
        for i, name in enumerate(servers):
            for start in (f".{name}", f'["{name}"]'):
                if rest.startswith(start) and (rest[len(start) :] in places or rest == start):
                    inner = f"[{i}]" + (f"[{places[rest[len(start):]]}]" if rest != start else "")
    elif rest in places:
        inner = f"[{places[rest]}]"
    return InputError(error.what, field=f"{array}[{number}]{inner or ''}")
