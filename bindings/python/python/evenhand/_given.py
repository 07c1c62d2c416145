"""Given tasks as the document of an allocation."""

from __future__ import annotations

import json
from typing import Any, List, Mapping, Optional

from . import _arrays as arrays
from ._errors import InputError
from ._numbers import token
from ._views import ProblemView


def document(
    problem: ProblemView, tasks: Any, *, mechanism: Optional[str], exact: Optional[bool], sharing: str, alpha: Any
) -> str:
    floats: List[bool] = []
    rows = _of_dict(tasks, floats) if isinstance(tasks, Mapping) else _of_array(problem, tasks, floats)
    fields = ['"kind": "allocation"']
    if mechanism is not None:
        fields.append(f'"mechanism": {json.dumps(mechanism)}')
    if alpha is not None:
        fields.append(f'"alpha": {token(alpha, "alpha")}')
    fields.append(f'"sharing": {json.dumps(sharing)}')
    is_exact = not floats if exact is None else bool(exact)
    fields.append(f'"arithmetic": "{"exact" if is_exact else "float"}"')
    fields.append('"tasks": {' + ", ".join(rows) + "}")
    return "{" + ", ".join(fields) + "}"


def _of_dict(tasks: Mapping[Any, Any], floats: List[bool]) -> List[str]:
    rows = []
    for user, on in tasks.items():
        if not isinstance(user, str):
            raise InputError(f"found the user {user!r}: expected a name", field="tasks")
        if not isinstance(on, Mapping):
            raise InputError(f"found {type(on).__name__}: expected tasks by class", field=f"tasks.{user}")
        each = []
        for server, x in on.items():
            if not isinstance(server, str):
                raise InputError(f"found the class {server!r}: expected a name", field=f"tasks.{user}")
            each.append(f"{json.dumps(server)}: {_number(x, f'tasks.{user}.{server}', floats)}")
        rows.append(f"{json.dumps(user)}: {{{', '.join(each)}}}")
    return rows


def _of_array(problem: ProblemView, tasks: Any, floats: List[bool]) -> List[str]:
    users, servers = problem.users, problem.servers
    of_users, of_servers = arrays.names_of(tasks, "index"), arrays.names_of(tasks, "columns")
    values = arrays.nested(tasks, "X")
    if not isinstance(values, list):
        raise InputError(f"found {values!r}: expected an array", field="X")
    if len(servers) == 1 and values and arrays.depth(values) == 1:
        values = [[value] for value in values]
    if len(values) != len(users):
        raise InputError(f"found {len(values)} rows: expected one for each of {len(users)} users", field="X")
    of_users = _labels(of_users, users, "users", "index")
    of_servers = _labels(of_servers, servers, "server classes", "columns")
    if isinstance(tasks, (list, tuple)) or getattr(getattr(tasks, "dtype", None), "kind", "O") == "O":
        is_stated = True
    else:
        is_stated = tasks.dtype.kind != "f"
    rows = []
    for n, row in enumerate(arrays.matrix(values, len(servers), "X", "classes")):
        each = []
        for i, x in enumerate(row):
            if type(x) is float and x == 0.0:
                continue
            each.append(f"{json.dumps(of_servers[i])}: {_number(x, f'X[{n}][{i}]', floats)}")
        rows.append(f"{json.dumps(of_users[n])}: {{{', '.join(each)}}}")
    if not is_stated:
        floats.append(True)
    return rows


def _labels(labels: Optional[List[str]], names: Any, what: str, axis: str) -> Any:
    if labels is None:
        return names
    unknown = [label for label in labels if label not in names]
    if unknown:
        raise InputError(f"found the label `{unknown[0]}`: expected the names of the {what} of the problem", field=f"X.{axis}")
    if len(set(labels)) != len(names):
        raise InputError(f"found labels of {len(set(labels))} {what}: expected all {len(names)}", field=f"X.{axis}")
    return labels


def _number(x: Any, field: str, floats: List[bool]) -> str:
    written = token(x, field)
    if isinstance(x, float) or getattr(getattr(x, "dtype", None), "kind", "") == "f":
        floats.append(True)
    return written
