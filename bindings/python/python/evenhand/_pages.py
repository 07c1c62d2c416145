"""The HTML that notebooks show."""

from __future__ import annotations

from html import escape
from typing import Any, Dict, Iterable, List

from ._views import AllocationView, ProblemView

#: The most rows of a table.
MOST = 20


def table(head: Iterable[str], rows: List[List[str]], more: int = 0) -> str:
    cells = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    rest = f"<p>and {more} more</p>" if more else ""
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>{rest}"


def _amounts(amounts: Dict[str, Any]) -> str:
    shown = [f"{name} {value}" for name, value in list(amounts.items())[:6]]
    return ", ".join(shown) + (", ..." if len(amounts) > 6 else "")


def problem(problem: ProblemView) -> str:
    data = problem._data()
    servers, users = data["servers"], data.get("users", [])
    classes = [[of["name"], str(of.get("count", 1)), _amounts(of.get("capacity", {}))] for of in servers[:MOST]]
    members = [
        [of["name"], str(of.get("weight", 1)), str(of.get("tasks", "unlimited")), _amounts(of.get("demand", {}))]
        for of in users[:MOST]
    ]
    title = f"<p><b>{escape(problem.name)}</b></p>" if problem.name else ""
    return (
        title
        + table(["server class", "count", "capacity of one"], classes, max(0, len(servers) - MOST))
        + table(["user", "weight", "tasks", "demand of a task"], members, max(0, len(users) - MOST))
    )


def allocation(allocation: AllocationView) -> str:
    picture = allocation._native.picture()
    return allocation._native.shown().render("html") + (picture or "")
