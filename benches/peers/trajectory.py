#!/usr/bin/env python3
"""Integrate the trajectory of No Justified Complaints (equation 13) with scipy's Runge-Kutta methods.

    trajectory.py FILE --c-max C [--method RK45|DOP853] [--solves woodbury|dense]
        [--state literal|plain|slacks] [--tolerance T] [--answer FILE] [--repetitions N]

x_i (sum_j r_ij / s_j + 1 / (cap_i - x_i)) = c e_i, s = 1 - R^T x, from x(0) = 0 in c up to 1, then in
ln c. literal: the state is x, and c stays the variable to the end. plain: the state is x, so errors are
relative to x only. slacks: the state also has the slacks and the distances from the caps, so errors
are relative to these too. The time includes the integration, but not reading the file.
"""

import argparse

from common import emit_pool, read_pool, timed

import numpy as np
from scipy.integrate import solve_ivp

# Below this fraction of a typical number, errors are absolute.
FLOOR = 1e-3


def integrate(pool, method, solves, state, tolerance, c_max):
    R, e, cap = pool.R, pool.e, pool.cap
    n, m = R.shape

    def slope(x, d, s):
        """dx/dc: (diag + x_i r_ij r_kj / s_j^2) dx/dc = e."""
        diagonal = R @ (1 / s) + cap / (d * d)
        if solves == "dense":
            return np.linalg.solve(np.diag(diagonal) + (x[:, None] * R / s**2) @ R.T, e)
        z, U = e / diagonal, (x / diagonal)[:, None] * R
        return z - U @ np.linalg.solve(np.diag(s * s) + R.T @ U, R.T @ z)

    def f(c, y):
        if state != "slacks":
            x = y
            return slope(x, cap - x, 1 - x @ R)
        x, d, s = y[:n], y[n : 2 * n], y[2 * n :]
        dx = slope(x, d, s)
        return np.concatenate([dx, -dx, -(dx @ R)])

    def g(t, y):
        c = np.exp(t)
        return c * f(c, y)

    y = np.zeros(n) if state != "slacks" else np.concatenate([np.zeros(n), cap, np.ones(m)])
    small = FLOOR / n
    scale = np.full(n, small) if state != "slacks" else np.concatenate([np.full(2 * n, small), np.zeros(m)])
    evaluations = 0
    phases = ((f, 0.0, min(1.0, c_max)), (g, 0.0, np.log(c_max)))
    if state == "literal":
        phases = ((f, 0.0, c_max),)
    for run, start, end in phases:
        if end <= start:
            break
        found = solve_ivp(run, (start, end), y, method=method, rtol=tolerance, atol=tolerance * scale)
        evaluations += found.nfev
        y = found.y[:, -1]
        if found.status != 0:
            reached = found.t[-1] if run is f else np.exp(found.t[-1])
            return y[:n], float(reached), evaluations, found.message
    return y[:n], c_max, evaluations, "done"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("pool")
    parser.add_argument("--method", choices=["RK45", "DOP853"], default="RK45")
    parser.add_argument("--solves", choices=["woodbury", "dense"], default="woodbury")
    parser.add_argument("--state", choices=["literal", "plain", "slacks"], default="plain")
    parser.add_argument("--tolerance", type=float, default=1e-6)
    parser.add_argument("--c-max", type=float, required=True)
    parser.add_argument("--answer")
    parser.add_argument("--repetitions", type=int, default=3)
    args = parser.parse_args()
    pool = read_pool(args.pool)
    run = lambda: integrate(pool, args.method, args.solves, args.state, args.tolerance, args.c_max)  # noqa: E731
    (x, c, evaluations, status), wall, cpu = timed(run, args.repetitions, 10.0)
    if args.answer:
        x.astype("<f8").tofile(args.answer)
    name = f"scipy-{args.method}-{args.solves}-{args.state}"
    emit_pool(
        name, pool, wall, cpu,
        mode="trajectory", status=status, c=c, evaluations=evaluations, tolerance=args.tolerance,
    )  # fmt: skip


if __name__ == "__main__":
    main()
