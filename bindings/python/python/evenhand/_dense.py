"""The amounts of a problem as arrays of doubles."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Dict, Iterable, Tuple

from ._errors import LimitError
from ._extras import need
from ._views import ProblemView

#: The most numbers of one array.
MOST_NUMBERS = 500_000_000


def zeros(shape: Tuple[int, ...]) -> Any:
    size = 1
    for length in shape:
        size *= length
    if size > MOST_NUMBERS:
        raise LimitError(f"the array would have {size} numbers: expected at most {MOST_NUMBERS}")
    return need("numpy", "arrays").zeros(shape)


def filled(entries: Iterable[Tuple[int, int, float]], shape: Tuple[int, int]) -> Any:
    array = zeros(shape)
    for row, column, value in entries:
        array[row, column] = value
    return array


def double(value: Any) -> float:
    return float(Fraction(value)) if isinstance(value, str) else float(value)


def _fill(array: Any, at: Tuple[int, ...], amounts: Dict[str, Any], resources: Dict[str, int]) -> None:
    for name, value in amounts.items():
        array[(*at, resources[name])] = double(value)


def _index(names: Iterable[str]) -> Dict[str, int]:
    return {name: position for position, name in enumerate(names)}


def capacity(problem: ProblemView) -> Any:
    resources, servers = _index(problem.resources), problem._data()["servers"]
    array = zeros((len(servers), len(resources)))
    for i, server in enumerate(servers):
        _fill(array, (i,), server.get("capacity", {}), resources)
    return array


def counts(problem: ProblemView) -> Any:
    numpy = need("numpy", "arrays")
    return numpy.array([int(Fraction(server.get("count", 1))) for server in problem._data()["servers"]])


def demand(problem: ProblemView) -> Any:
    resources, servers = _index(problem.resources), _index(problem.servers)
    users = problem._data().get("users", [])
    if not any("demand_on" in user or "rates" in user for user in users):
        array = zeros((len(users), len(resources)))
        for n, user in enumerate(users):
            _fill(array, (n,), user.get("demand", {}), resources)
        return array
    array = zeros((len(users), len(servers), len(resources)))
    for n, user in enumerate(users):
        for name, i in servers.items():
            _fill(array, (n, i), user.get("demand_on", {}).get(name, user.get("demand", {})), resources)
            rate = user.get("rates", {}).get(name)
            if rate is not None:
                # A task is one unit of throughput, and takes the demand of one accelerator divided by the rate.
                array[n, i] /= double(rate)
    return array


def weights(problem: ProblemView) -> Any:
    numpy = need("numpy", "arrays")
    return numpy.array([double(user.get("weight", 1)) for user in problem._data().get("users", [])])


def task_limits(problem: ProblemView) -> Any:
    numpy = need("numpy", "arrays")
    return numpy.array([double(user.get("tasks", "inf")) if "tasks" in user else numpy.inf for user in problem._data().get("users", [])])


def eligible(problem: ProblemView) -> Any:
    servers, users = _index(problem.servers), problem._data().get("users", [])
    array = zeros((len(users), len(servers))).astype(bool)
    for n, user in enumerate(users):
        for name in user.get("rates", user.get("servers", servers)):
            array[n, servers[name]] = True
    return array
