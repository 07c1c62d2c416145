"""Plots with matplotlib."""

from __future__ import annotations

from typing import Any, Iterable, List, Mapping, Tuple

from ._dense import capacity as capacity_of
from ._dense import counts as counts_of
from ._dense import demand as demand_of
from ._extras import need
from ._verdicts import Verdict
from ._views import AllocationView, ProblemView

#: The most users with a colour of their own, and the most classes with bars.
MOST_USERS, MOST_CLASSES = 9, 8


def _axes(ax: Any) -> Any:
    return need("matplotlib.pyplot", "plots").subplots()[1] if ax is None else ax


def allocation(problem: ProblemView, of: AllocationView, ax: Any) -> Any:
    ax = _axes(ax)
    data = problem._data()
    demand, capacity, counts = demand_of(problem), capacity_of(problem), counts_of(problem)
    tasks = of.to_numpy()
    shares = list(of.dominant_shares.items())
    shown = [name for name, _ in sorted(shares, key=lambda each: -each[1])[:MOST_USERS]]
    order = [user for user in problem.users if user in shown]
    bars: List[Tuple[int, int]] = [
        (i, r)
        for i in range(min(len(problem.servers), MOST_CLASSES))
        for r in range(len(problem.resources))
        if capacity[i, r] > 0
    ]
    below = [0.0] * len(bars)
    rows = {user["name"]: n for n, user in enumerate(data.get("users", []))}
    for user in order + ([None] if len(order) < len(rows) else []):
        members = [rows[user]] if user is not None else [n for name, n in rows.items() if name not in shown]
        heights = []
        for i, r in bars:
            each = demand[:, r] if demand.ndim == 2 else demand[:, i, r]
            heights.append(float(sum(tasks[n, i] * each[n] for n in members) / (capacity[i, r] * counts[i])))
        ax.bar(range(len(bars)), heights, bottom=below, label=user or f"{len(members)} others")
        below = [low + height for low, height in zip(below, heights)]
    labels = [f"{problem.resources[r]}\n{problem.servers[i]}" for i, r in bars]
    ax.set_xticks(range(len(bars)), labels)
    ax.set_ylabel("fraction of the capacity")
    ax.set_ylim(0, 1.05)
    ax.legend()
    return ax


def comparison(weights: Mapping[str, float], columns: Mapping[str, AllocationView], ax: Any) -> Any:
    ax = _axes(ax)
    for name, allocation in columns.items():
        shares = allocation.dominant_shares
        heights = sorted(float(share) / weights[user] for user, share in shares.items())
        ax.plot(range(1, len(heights) + 1), heights, marker="o" if len(heights) < 50 else None, label=name)
    ax.set_xlabel("users in the order of their shares")
    ax.set_ylabel("dominant share / weight")
    ax.set_ylim(bottom=0)
    ax.legend()
    return ax


def certificate(verdicts: Iterable[Verdict], ax: Any) -> Any:
    ax = _axes(ax)
    decided = [verdict for verdict in verdicts if verdict.margin is not None]
    colours = {"holds": "tab:green", "within": "tab:olive", "violated": "tab:red"}
    ax.barh(
        [verdict.name for verdict in decided],
        [float(verdict.margin or 0) for verdict in decided],
        color=[colours.get(verdict.outcome, "tab:grey") for verdict in decided],
    )
    ax.axvline(0, color="black", linewidth=0.8)
    ax.set_xlabel("margin, as a fraction of a user's solo tasks")
    ax.invert_yaxis()
    return ax
