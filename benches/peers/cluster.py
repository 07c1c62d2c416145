#!/usr/bin/env python3
"""Compute proportional and alpha-fair allocations of a cluster with a straightforward cvxpy or Clarabel model.

    cluster.py PROBLEM --solver NAME --alpha A [--answer FILE] [--repetitions N]

max sum_n w_n g_a(x_n), x_n = sum_i x_ni, subject to the capacities and the numbers of tasks; alpha is
1, 2 or 1/2. The answer is an allocation file (docs/formats.md), which `evenhand-benches` checks. The time
includes modelling and solving.
"""

import argparse
import json
from fractions import Fraction

from common import emit, read_problem, timed

import cvxpy as cp
import numpy as np

# Smaller numbers of tasks count as 0. An interior-point solver leaves such numbers, because it stays off the boundary.
NOTHING = 1e-9


def arrays(problem):
    demand = np.array(problem.demand, float)
    capacity = np.array([[k * c for c in row] for k, row in zip(problem.counts, problem.capacity)], float)
    weights = np.array(problem.weights, float)
    limit = np.array([np.inf if t is None else float(t) for t in problem.tasks])
    usable = np.zeros((len(weights), len(capacity)), bool)
    for n, allowed in enumerate(problem.allowed):
        usable[n, list(allowed)] = True
    return demand, capacity, weights, limit, usable


def solve(problem, solver, alpha):
    demand, capacity, weights, limit, usable = arrays(problem)
    # The unit of a variable: the user's tasks if the whole cluster is shared by weights, at most its limit.
    share = weights / weights.sum()
    unit = np.minimum(share / (demand / capacity.sum(0)).max(1), limit)
    y = cp.Variable(usable.shape, nonneg=True)
    u = cp.sum(y, axis=1)
    parts = (demand * unit[:, None])[:, None, :] / capacity[None, :, :]
    rows = [cp.sum(cp.multiply(parts[:, :, r], y), axis=0) <= 1 for r in range(demand.shape[1])]
    rows += [u[np.isfinite(limit)] <= (limit / unit)[np.isfinite(limit)]]
    if not usable.all():
        rows.append(y[~usable] == 0)
    scale = weights * unit ** (1 - float(alpha))
    scale = scale / scale.mean()
    if alpha == 1:
        goal = scale @ cp.log(u)
    elif alpha == 2:
        goal = -(scale @ cp.inv_pos(u))
    else:
        goal = scale @ cp.sqrt(u)
    model = cp.Problem(cp.Maximize(goal), rows)
    model.solve(solver=solver)
    return np.asarray(y.value) * unit[:, None], model.status, model.solver_stats.num_iters


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("problem")
    parser.add_argument("--solver", choices=["CLARABEL", "ECOS", "SCS"], default="CLARABEL")
    parser.add_argument("--alpha", type=Fraction, choices=[Fraction(1), Fraction(2), Fraction(1, 2)], required=True)
    parser.add_argument("--answer")
    parser.add_argument("--repetitions", type=int, default=3)
    args = parser.parse_args()
    problem = read_problem(args.problem)
    (x, status, steps), wall, cpu = timed(lambda: solve(problem, args.solver, args.alpha), args.repetitions, 20.0)
    if args.answer:
        least = NOTHING * x.sum(1)
        tasks = {
            user: {server: float(v) for server, v in zip(problem.servers, row) if v > least[n]}
            for n, (user, row) in enumerate(zip(problem.users, x))
        }
        with open(args.answer, "w", encoding="utf-8") as file:
            json.dump({"kind": "allocation", "arithmetic": "float", "tasks": tasks}, file)
    emit(f"cvxpy-{args.solver}", problem, wall, cpu, mode=f"alpha {args.alpha}", status=status, steps=steps)


if __name__ == "__main__":
    main()
