#!/usr/bin/env python3
"""Compute a DRFH allocation with HiGHS through highspy: one model, changed in place between rounds.

    drfh_highspy.py PROBLEM [--variant default|primal|ipm] [--mode lex|one] [--repetitions N]

lex is the weighted lexicographic optimum with finite tasks; one is the single LP that ignores finite
tasks. The time includes building the model and all rounds, but not reading the file.
"""

import argparse

from common import emit, read_problem, rounds, shares, timed, worst_violation

import highspy
import numpy as np

OPTIONS = {
    "default": {},
    "primal": {"solver": "simplex", "simplex_strategy": 4, "presolve": "off"},
    "ipm": {"solver": "ipm"},
}


def model(lp):
    """Return the model. Columns: y_ni for the usable pairs, then g. Rows: capacities, then a level row for each user."""
    user, server = np.nonzero(lp.usable)
    n_users, n_classes = lp.usable.shape
    n_resources = lp.capacity.shape[1]
    n_pairs, n_capacity = len(user), n_classes * n_resources
    index = np.empty((n_pairs, n_resources + 1), np.int32)
    index[:, :-1] = server[:, None] * n_resources + np.arange(n_resources)
    index[:, -1] = n_capacity + user
    value = np.ones((n_pairs, n_resources + 1))
    value[:, :-1] = lp.demand[user]
    keep = (value != 0).ravel()
    per_column = (value != 0).sum(1)

    highs_lp = highspy.HighsLp()
    highs_lp.num_col_, highs_lp.num_row_ = n_pairs + 1, n_capacity + n_users
    highs_lp.sense_ = highspy.ObjSense.kMaximize
    highs_lp.col_cost_ = np.r_[np.zeros(n_pairs), 1.0]
    highs_lp.col_lower_ = np.zeros(n_pairs + 1)
    highs_lp.col_upper_ = np.full(n_pairs + 1, highspy.kHighsInf)
    highs_lp.row_lower_ = np.r_[np.full(n_capacity, -highspy.kHighsInf), np.zeros(n_users)]
    highs_lp.row_upper_ = np.r_[lp.capacity.ravel(), np.zeros(n_users)]
    matrix = highs_lp.a_matrix_
    matrix.format_ = highspy.MatrixFormat.kColwise
    matrix.start_ = np.r_[0, np.cumsum(per_column), per_column.sum() + n_users].astype(np.int32)
    matrix.index_ = np.r_[index.ravel()[keep], np.arange(n_capacity, n_capacity + n_users, dtype=np.int32)]
    matrix.value_ = np.r_[value.ravel()[keep], -lp.weights]
    return highs_lp


def allocate(lp, options, mode):
    highs = highspy.Highs()
    for name, value in {"output_flag": False, "threads": 1, **options}.items():
        highs.setOptionValue(name, value)
    highs.passModel(model(lp))
    pairs = int(lp.usable.sum())
    first = lp.capacity.size
    in_model = np.ones(len(lp.mu), bool)
    iterations = 0

    def solve(active, fixed):
        nonlocal iterations
        for n in np.nonzero(in_model & ~active)[0]:
            highs.changeCoeff(first + int(n), pairs, 0.0)
            highs.changeRowBounds(first + int(n), float(fixed[n]), float(fixed[n]))
            in_model[n] = False
        highs.run()
        if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            raise SystemExit(f"HiGHS: {highs.modelStatusToString(highs.getModelStatus())}")
        info = highs.getInfo()
        iterations += max(0, info.simplex_iteration_count) + max(0, info.ipm_iteration_count)
        solution = highs.getSolution()
        x = np.array(solution.col_value)
        y = np.zeros(lp.usable.shape)
        y[lp.usable] = x[:-1]
        dual = None if lp.everywhere else np.array(solution.row_dual)[first:]
        return x[-1], y, dual

    g, y, count = rounds(lp, solve, mode)
    return g, y, count, iterations


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("problem")
    parser.add_argument("--variant", choices=OPTIONS, default="default")
    parser.add_argument("--mode", choices=["lex", "one"], default="lex")
    parser.add_argument("--repetitions", type=int, default=5)
    args = parser.parse_args()
    problem = read_problem(args.problem)
    lp = shares(problem)
    (g, y, count, iterations), wall, cpu = timed(lambda: allocate(lp, OPTIONS[args.variant], args.mode), args.repetitions)
    emit(
        f"highspy-{args.variant}", problem, wall, cpu,
        mode=args.mode, objective=float(g / lp.scale), rounds=count, iterations=iterations,
        shares=float(y.sum() / lp.scale), violation=worst_violation(lp, y), version=highspy.Highs().version(),
    )  # fmt: skip


if __name__ == "__main__":
    main()
