#!/usr/bin/env python3
"""Compute a DRFH allocation with a straightforward cvxpy model, solved by HiGHS.

    drfh_cvxpy.py PROBLEM [--variant parameters|rebuild|primal] [--mode lex|one] [--repetitions N]

parameters: one problem, whose parameters change each round (cvxpy compiles it once); rebuild: a new
problem for every round; primal: as rebuild, with HiGHS' primal simplex and no presolve.
The time includes modelling, cvxpy's compilation and all rounds, but not reading the file.
"""

import argparse

from common import emit, read_problem, rounds, shares, timed, worst_violation

import cvxpy as cp
import numpy as np

OPTIONS = {
    "parameters": {},
    "rebuild": {},
    "primal": {"highs_options": {"solver": "simplex", "simplex_strategy": 4, "presolve": "off"}},
}


def levels(lp, active, fixed, with_parameters):
    """Return the problem with the level rows sum_i y_ni = active_n w_n g + fixed_n."""
    y = cp.Variable(lp.usable.shape, nonneg=True)
    g = cp.Variable()
    level = cp.sum(y, axis=1) == cp.multiply(active, g) + fixed if with_parameters else (
        cp.sum(y, axis=1) == (active * lp.weights) * g + fixed
    )
    constraints = [lp.demand.T @ y <= lp.capacity.T, level]
    if not lp.usable.all():
        constraints.append(y[~lp.usable] == 0)
    return cp.Problem(cp.Maximize(g), constraints), y, g, level


def allocate(lp, variant, mode):
    with_parameters = variant == "parameters" and mode == "lex"
    if with_parameters:
        rise, hold = cp.Parameter(len(lp.mu)), cp.Parameter(len(lp.mu))
        compiled = levels(lp, rise, hold, True)

    def solve(active, fixed):
        if with_parameters:
            rise.value, hold.value = active * lp.weights, fixed
            problem, y, g, level = compiled
        else:
            problem, y, g, level = levels(lp, active, fixed, False)
        problem.solve(solver=cp.HIGHS, **OPTIONS[variant])
        if problem.status != cp.OPTIMAL:
            raise SystemExit(f"cvxpy: {problem.status}")
        return float(g.value), np.asarray(y.value), level.dual_value

    return rounds(lp, solve, mode)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("problem")
    parser.add_argument("--variant", choices=OPTIONS, default="parameters")
    parser.add_argument("--mode", choices=["lex", "one"], default="lex")
    parser.add_argument("--repetitions", type=int, default=5)
    args = parser.parse_args()
    problem = read_problem(args.problem)
    lp = shares(problem)
    (g, y, count), wall, cpu = timed(lambda: allocate(lp, args.variant, args.mode), args.repetitions)
    emit(
        f"cvxpy-highs-{args.variant}", problem, wall, cpu,
        mode=args.mode, objective=g / lp.scale, rounds=count,
        shares=float(y.sum() / lp.scale), violation=worst_violation(lp, y), version=cp.__version__,
    )  # fmt: skip


if __name__ == "__main__":
    main()
