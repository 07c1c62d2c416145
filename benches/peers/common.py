"""Shared code of the peers: reading a problem, timing, and the one JSON line that each peer prints.

Index letters as in docs/theory.md: user n, server class i, resource r. All numbers are read exactly
(`Fraction`). The floating-point peers take their arrays from `Shares`.
"""

import json
import os
import resource
import statistics
import time
from dataclasses import dataclass
from fractions import Fraction

# Each peer uses one thread, because idle threads of OpenBLAS spin and distort the CPU times. Set before numpy is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")


@dataclass
class Problem:
    """An allocation problem (docs/formats.md), restricted to the fields that the peers understand."""

    name: str
    resources: list
    servers: list
    counts: list  # k[i]
    capacity: list  # c[i][r], of one server
    users: list
    weights: list  # w[n]
    tasks: list  # T[n], None when unlimited
    demand: list  # d[n][r]
    allowed: list  # allowed[n]: tuple of class indices


def number(value):
    """Return the exact value of a JSON number (as its decimal text) or of a string, "p/q" or a decimal."""
    return Fraction(value)


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file, parse_float=Fraction, parse_int=int)


def read_problem(path):
    doc = read_json(path)
    if doc.get("kind") != "allocation-problem":
        raise SystemExit(f"{path}: not an allocation problem")
    resources = doc["resources"]
    servers = [s["name"] for s in doc["servers"]]
    index = {name: i for i, name in enumerate(servers)}
    for user in doc["users"]:
        unknown = {"demand_on", "gamma", "criterion"} & user.keys()
        if unknown:
            raise SystemExit(f"{path}: user {user['name']}: {min(unknown)} is beyond these peers")

    def bundle(amounts):
        return [number(amounts.get(r, 0)) for r in resources]

    return Problem(
        name=doc.get("name", os.path.basename(path)),
        resources=resources,
        servers=servers,
        counts=[int(s.get("count", 1)) for s in doc["servers"]],
        capacity=[bundle(s["capacity"]) for s in doc["servers"]],
        users=[u["name"] for u in doc["users"]],
        weights=[number(u.get("weight", 1)) for u in doc["users"]],
        tasks=[number(u["tasks"]) if "tasks" in u else None for u in doc["users"]],
        demand=[bundle(u["demand"]) for u in doc["users"]],
        allowed=[
            tuple(sorted(index[s] for s in u["servers"])) if "servers" in u else tuple(range(len(servers)))
            for u in doc["users"]
        ],
    )


def totals(problem):
    """Return the total capacity of each resource: sum_i k_i c_ir."""
    return [
        sum(k * c[r] for k, c in zip(problem.counts, problem.capacity))
        for r in range(len(problem.resources))
    ]


def dominant_shares(problem):
    """Return mu_n = 1 / sigma_n of DRFH: the dominant share of one task."""
    total = totals(problem)
    return [max(d / t for d, t in zip(demand, total) if d > 0) for demand in problem.demand]


@dataclass
class Shares:
    """The DRFH LP in floating point.

    The unit is the dominant share times the number of servers, because plain shares are tiny numbers:
    y[n][i] = x_ni mu_n scale."""

    scale: float
    mu: "numpy.ndarray"  # users
    demand: "numpy.ndarray"  # users x resources, per unit of share
    capacity: "numpy.ndarray"  # classes x resources
    weights: "numpy.ndarray"  # users
    limit: "numpy.ndarray"  # users; T_n in units of share, infinite when unlimited
    usable: "numpy.ndarray"  # users x classes, bool
    everywhere: bool  # every user demands every resource and may use every class


def shares(problem):
    import numpy as np

    total = totals(problem)
    mu = dominant_shares(problem)
    scale = sum(problem.counts)
    usable = np.zeros((len(mu), len(problem.servers)), bool)
    for n, allowed in enumerate(problem.allowed):
        for i in allowed:
            usable[n, i] = all(d == 0 or c > 0 for d, c in zip(problem.demand[n], problem.capacity[i]))
    demand = np.array(
        [[float(d / t / m) if t else 0.0 for d, t in zip(row, total)] for row, m in zip(problem.demand, mu)]
    )
    return Shares(
        scale=float(scale),
        mu=np.array([float(m) for m in mu]),
        demand=demand,
        capacity=np.array(
            [
                [float(k * c / t * scale) if t else 0.0 for c, t in zip(row, total)]
                for k, row in zip(problem.counts, problem.capacity)
            ]
        ),
        weights=np.array([float(w) for w in problem.weights]),
        limit=np.array([float("inf") if t is None else float(t * m * scale) for t, m in zip(problem.tasks, mu)]),
        usable=usable,
        everywhere=bool(usable.all() and (demand > 0).all()),
    )


def rounds(lp, solve, mode):
    """Return the weighted lexicographic max-min solution, computed by rounds on top of an LP library.

    `solve(active, fixed)` maximises g with sum_i y_ni = w_n g for the active users and = fixed[n]
    for the others, and returns (g, y, duals of the level rows). Users that have all their tasks
    below the level are fixed together. If there are no such users, the level is final. The blocked
    users are then the users with a nonzero dual. If every user demands every resource and may use
    every class, all users are blocked, because only Pareto-optimal points have the highest level.
    """
    import numpy as np

    active = lp.usable.any(1)  # users without a usable class get no tasks
    fixed = np.zeros(len(lp.mu))
    count = 0
    while True:
        g, y, dual = solve(active, fixed)
        count += 1
        if mode == "one":
            return g, y, count
        done = active & (lp.limit < lp.weights * g * (1 - 1e-9))
        if done.any():
            fixed[done] = lp.limit[done]
        elif lp.everywhere:
            return g, y, count
        else:
            done = active & (np.abs(dual) > 1e-9)
            if not done.any():
                done = active.copy()
            fixed[done] = lp.weights[done] * g
        active &= ~done
        if not active.any():  # users with more than all their tasks give the excess back
            return g, y * np.minimum(1, fixed / np.maximum(y.sum(1), 1e-300))[:, None], count


def worst_violation(lp, y):
    """Return the largest violation of a capacity row, relative to its capacity."""
    use = y.T @ lp.demand
    rows = lp.capacity > 0
    return float(max(0.0, ((use - lp.capacity)[rows] / lp.capacity[rows]).max()))


@dataclass
class Pool:
    """One pool in doubles, in the format that `evenhand-benches pool-file` writes."""

    R: "numpy.ndarray"  # users x resources, in units of the capacities
    e: "numpy.ndarray"  # users; sum 1
    cap: "numpy.ndarray"  # users


def read_pool(path):
    import numpy as np

    with open(path, "rb") as file:
        head = json.loads(file.readline())
        values = np.frombuffer(file.read(), "<f8")
    n, m = head["users"], head["resources"]
    e = values[n * m : n * m + n]
    return Pool(values[: n * m].reshape(n, m).copy(), e / e.sum(), values[n * m + n :].copy())


def timed(run, repetitions, limit=600.0):
    """Call `run` up to `repetitions` times, for about `limit` seconds at most.

    Return its last result and the wall and CPU seconds of each call."""
    wall, cpu, start = [], [], time.perf_counter()
    while True:
        w, c = time.perf_counter(), time.process_time()
        result = run()
        wall.append(time.perf_counter() - w)
        cpu.append(time.process_time() - c)
        if len(wall) >= repetitions or time.perf_counter() - start > limit:
            return result, wall, cpu


def peak_mib(who=resource.RUSAGE_SELF):
    return resource.getrusage(who).ru_maxrss // 1024


def emit(peer, problem, seconds, cpu_seconds, **rest):
    """Print the JSON line for a cluster problem."""
    sizes = {
        "problem": problem.name,
        "users": len(problem.users),
        "classes": len(problem.servers),
        "resources": len(problem.resources),
    }
    emit_line(peer, sizes, seconds, cpu_seconds, **rest)


def emit_pool(peer, pool, seconds, cpu_seconds, **rest):
    """Print the JSON line for a pool."""
    emit_line(peer, dict(zip(("users", "resources"), pool.R.shape)), seconds, cpu_seconds, **rest)


def emit_reservation(peer, problem, seconds, cpu_seconds, **rest):
    """Print the JSON line for a reservation problem."""
    emit_line(peer, {"problem": problem.name, "types": len(problem.types)}, seconds, cpu_seconds, **rest)


def emit_line(peer, sizes, seconds, cpu_seconds, **rest):
    significant = [float(f"{s:.4g}") for s in seconds]
    line = {
        "peer": peer,
        **sizes,
        "seconds": significant,
        "median": float(f"{statistics.median(seconds):.4g}"),
        "cpu_median": float(f"{statistics.median(cpu_seconds):.4g}"),
        "peak_mib": peak_mib(),
        **rest,
        "load": round(os.getloadavg()[0], 2),
    }
    print(json.dumps(line), flush=True)
