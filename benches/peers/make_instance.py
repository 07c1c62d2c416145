#!/usr/bin/env python3
"""Writes an allocation problem: the Google cluster of DRFH, Table I, with random users.

    make_instance.py USERS [--seed S] [--unlimited] [-o FILE]

The same numbers for the same arguments: demands are whole numbers in 1/10000 of the largest
server, log-normal as observed for cluster traces; weights 1 to 5; tasks around the fair level, so
that a part of the users is satisfied before it (--unlimited leaves the tasks out).
"""

import argparse
import json
import sys

import numpy as np

# DRFH, Table I: servers, CPU and memory in hundredths of the largest server
TABLE_I = [
    (6732, 50, 50), (3863, 50, 25), (1001, 50, 75), (795, 100, 100), (126, 25, 25),
    (52, 50, 12), (5, 50, 3), (5, 50, 97), (3, 100, 50), (1, 50, 6),
]  # fmt: skip
UNIT = 100  # of demands per hundredth


def users(n, seed):
    """Demands (n x 2), weights and tasks, all whole numbers."""
    rng = np.random.default_rng(seed + n)
    cpu = np.clip(np.exp(rng.normal(-3.6, 0.9, n)), 1e-3, 0.5)
    memory = np.clip(np.exp(rng.normal(-3.9, 1.0, n)), 1e-3, 0.5)
    demand = np.maximum(1, np.rint(np.stack([cpu, memory], 1) * 100 * UNIT)).astype(np.int64)
    weights = rng.integers(1, 6, n).astype(np.int64)

    total = np.array([sum(k * c for k, c, _ in TABLE_I), sum(k * m for k, _, m in TABLE_I)]) * UNIT
    shares = demand / total
    dominant = shares.max(1)
    level = 0.9 / np.max((weights[:, None] * shares / dominant[:, None]).sum(0))
    wanted = np.exp(rng.normal(0.0, 0.7, n)) * weights * level
    tasks = np.maximum(1, np.rint(wanted / dominant)).astype(np.int64)
    return demand, weights, tasks


def problem(n, seed, unlimited):
    demand, weights, tasks = users(n, seed)
    return {
        "kind": "allocation-problem",
        "name": f"google-table-{n}-seed-{seed}" + ("-unlimited" if unlimited else ""),
        "resources": ["cpu", "memory"],
        "servers": [
            {
                "name": f"cpu {c / 100:g} memory {m / 100:g}",
                "count": k,
                "capacity": {"cpu": c * UNIT, "memory": m * UNIT},
            }
            for k, c, m in TABLE_I
        ],
        "users": [
            {
                "name": f"user {j + 1}",
                "weight": int(weights[j]),
                "demand": {"cpu": int(demand[j, 0]), "memory": int(demand[j, 1])},
                **({} if unlimited else {"tasks": int(tasks[j])}),
            }
            for j in range(n)
        ],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("users", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--unlimited", action="store_true", help="users without a number of tasks")
    parser.add_argument("-o", "--output", metavar="FILE")
    args = parser.parse_args()
    with open(args.output, "w", encoding="utf-8") if args.output else sys.stdout as file:
        json.dump(problem(args.users, args.seed, args.unlimited), file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
