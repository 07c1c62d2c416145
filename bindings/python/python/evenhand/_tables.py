"""Problems and allocations as tables: CSV and Parquet.

A problem is a table of server classes, a table of users, a table of groups if there are any, and a table of general fields.
Columns of amounts are named ``capacity.cpu`` or ``demand.cpu``. A value that is neither a number nor a name is JSON in its
cell. Numbers are exact texts.
"""

from __future__ import annotations

import csv
import io
import json
import os
from typing import Any, Dict, List, Tuple, Union

from ._errors import InputError
from ._extras import need
from ._files import read, write
from ._views import AllocationView, ProblemView

Path = Union[str, "os.PathLike[str]"]
Row = Dict[str, str]

#: The fields with amounts by resource, which become columns of their own.
_AMOUNTS = {"servers": "capacity", "users": "demand"}
#: The fields that are texts; all others are JSON.
_TEXTS = {"name", "group", "parent"}


def _row(part: str, of: Dict[str, Any]) -> Row:
    row: Row = {}
    for field, value in of.items():
        if field == _AMOUNTS.get(part):
            row.update({f"{field}.{resource}": _cell(amount) for resource, amount in value.items()})
        else:
            row[field] = value if field in _TEXTS else _cell(value)
    return row


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _of_row(part: str, row: Row, at: str) -> Dict[str, Any]:
    of: Dict[str, Any] = {}
    for column, cell in row.items():
        if cell is None or cell == "":
            continue
        amounts = _AMOUNTS.get(part)
        if amounts is not None and column.startswith(f"{amounts}."):
            of.setdefault(amounts, {})[column[len(amounts) + 1 :]] = cell
        elif column in _TEXTS:
            of[column] = cell
        elif cell[0] in "[{":
            try:
                of[column] = json.loads(cell, parse_float=_kept, parse_int=_kept)
            except json.JSONDecodeError as error:
                raise InputError(f"found {cell[:40]!r}: {error.msg}", field=f"{at}.{column}") from None
        elif column in ("gang", "pinned", "priority", "count") and cell.lstrip("-").isdigit():
            of[column] = int(cell)
        else:
            of[column] = cell
    return of


def _kept(text: str) -> Any:
    """Returns a number of a cell without rounding it."""
    return int(text) if text.lstrip("-").isdigit() else text


def _parts(problem: ProblemView) -> Dict[str, List[Row]]:
    data = json.loads(problem.to_json(), parse_float=str)
    parts = {part: [_row(part, of) for of in data.get(part, [])] for part in ("servers", "users", "groups")}
    whole = {"name": data.get("name", ""), "resources": json.dumps(data["resources"], ensure_ascii=False)}
    if "share" in data:
        whole["share"] = json.dumps(data["share"], ensure_ascii=False)
    parts["problem"] = [whole]
    return {part: rows for part, rows in parts.items() if rows}


def _data(parts: Dict[str, List[Row]]) -> Dict[str, Any]:
    whole = (parts.get("problem") or [{}])[0]
    servers, users, groups = (
        [_of_row(part, row, f"{part}[{n}]") for n, row in enumerate(parts.get(part, []))]
        for part in ("servers", "users", "groups")
    )
    for server in servers:
        # A class without any capacity has no such column.
        server.setdefault("capacity", {})
    resources = json.loads(whole["resources"]) if whole.get("resources") else _columns(parts)
    data: Dict[str, Any] = {"resources": resources, "servers": servers, "users": users}
    if whole.get("name"):
        data["name"] = whole["name"]
    if groups:
        data["groups"] = groups
    if whole.get("share"):
        data["share"] = json.loads(whole["share"])
    return data


def _columns(parts: Dict[str, List[Row]]) -> List[str]:
    """Returns the resources by the names of the columns, if no field lists them."""
    found: Dict[str, None] = {}
    for part, amounts in _AMOUNTS.items():
        for row in parts.get(part, []):
            found.update(dict.fromkeys(c[len(amounts) + 1 :] for c in row if c.startswith(f"{amounts}.")))
    return list(found)


def _head(rows: List[Row]) -> List[str]:
    head: Dict[str, None] = {}
    for row in rows:
        head.update(dict.fromkeys(row))
    return list(head)


def _csv(rows: List[Row]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, _head(rows), lineterminator="\n", restval="")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def problem_to_csv(problem: ProblemView, folder: Path) -> None:
    os.makedirs(folder, exist_ok=True)
    for part, rows in _parts(problem).items():
        write(os.path.join(folder, f"{part}.csv"), _csv(rows))


def problem_from_csv(folder: Path) -> Dict[str, Any]:
    """Returns the data of the problem."""
    parts = {}
    for part in ("problem", "servers", "users", "groups"):
        path = os.path.join(folder, f"{part}.csv")
        if os.path.exists(path):
            parts[part] = list(csv.DictReader(io.StringIO(read(path))))
    if "servers" not in parts:
        raise InputError("the file servers.csv is missing", field=os.fspath(folder))
    return _data(parts)


def problem_to_parquet(problem: ProblemView, path: Path) -> None:
    rows = [{"part": part, **row} for part, rows in _parts(problem).items() for row in rows]
    _to_parquet(rows, _head(rows), path)


def problem_from_parquet(path: Path) -> Dict[str, Any]:
    """Returns the data of the problem."""
    parts: Dict[str, List[Row]] = {}
    for row in _from_parquet(path):
        parts.setdefault(row.pop("part"), []).append({key: cell for key, cell in row.items() if cell is not None})
    return _data(parts)


def _to_parquet(rows: List[Row], head: List[str], path: Path) -> None:
    arrow, parquet = need("pyarrow", "parquet"), need("pyarrow.parquet", "parquet")
    columns = {name: arrow.array([row.get(name) for row in rows], arrow.string()) for name in head}
    parquet.write_table(arrow.table(columns), os.fspath(path))


def _from_parquet(path: Path) -> List[Row]:
    return need("pyarrow.parquet", "parquet").read_table(os.fspath(path)).to_pylist()


def _task_rows(allocation: AllocationView) -> List[Row]:
    """Returns a row for every user and class. Floating-point numbers are written as their shortest decimals."""
    number = str if allocation.exact else (lambda x: repr(float(x)))
    return [
        {"user": user, "server": server, "tasks": number(x)}
        for user, on in allocation.tasks.items()
        for server, x in on.items()
    ]


def allocation_to_csv(allocation: AllocationView, path: Any) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, ["user", "server", "tasks"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(_task_rows(allocation))
    if path is not None:
        write(path, text.getvalue())
    return text.getvalue()


def allocation_to_parquet(allocation: AllocationView, path: Path) -> None:
    _to_parquet(_task_rows(allocation), ["user", "server", "tasks"], path)


def tasks_from_table(path: str) -> Tuple[Dict[str, Dict[str, str]], bool]:
    """Returns the tasks by user and class, and ``True`` if they are exact, which means that no number has a point or an exponent."""
    rows = _from_parquet(path) if path.endswith(".parquet") else list(csv.DictReader(io.StringIO(read(path))))
    tasks: Dict[str, Dict[str, str]] = {}
    is_float = False
    for number, row in enumerate(rows):
        missing = [name for name in ("user", "server", "tasks") if not row.get(name)]
        if missing:
            raise InputError(f"the value of {missing[0]} is missing", field=f"rows[{number}].{missing[0]}")
        on = tasks.setdefault(row["user"], {})
        if row["server"] in on:
            message = f"there are two rows of `{row['user']}` on `{row['server']}`"
            raise InputError(message, field=f"rows[{number}].server")
        on[row["server"]] = row["tasks"]
        is_float = is_float or any(mark in row["tasks"] for mark in ".eE")
    return tasks, not is_float
