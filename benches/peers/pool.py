#!/usr/bin/env python3
"""Compute the proportionally fair allocation of one pool: max sum_i e_i log x_i with R^T x <= 1 and x <= cap.

    pool.py FILE --solver NAME [--answer FILE] [--repetitions N]

`evenhand-benches pool-file` writes FILE. The answer is written as doubles: x, then prices for
entitlements of sum 1. `evenhand-benches` checks it. The time includes modelling and solving, but not
reading the file.

cvxpy-*, clarabel: the conic programme, in units in which allocations are near 1.
newton: the dual problem with one price per resource, x_i = min(cap_i, e_i / sum_j p_j r_ij), by hand in numpy.
"""

import argparse

from common import emit_pool, read_pool, timed

import numpy as np


def unit(pool):
    """Return a typical allocation: each user's most demanded resource, shared in proportion to e."""
    return float(np.median(np.minimum(pool.cap, pool.e / pool.R.max(1))))


def cvxpy(pool, solver, options):
    import cvxpy as cp

    n, u = len(pool.e), unit(pool)
    y = cp.Variable(n)
    rows = (u * pool.R.T) @ y <= 1
    problem = cp.Problem(cp.Maximize((n * pool.e) @ cp.log(y)), [rows, y <= pool.cap / u])
    problem.solve(solver=solver, **options)
    return u * y.value, rows.dual_value / n, problem.status, problem.solver_stats.num_iters


def clarabel(pool, tolerance=None):
    """Minimise -sum_i n e_i t_i with (t_i, 1, y_i) in the exponential cone."""
    import clarabel as solver
    import scipy.sparse as sp

    (n, m), u = pool.R.shape, unit(pool)
    i = np.arange(n)
    rows = sp.hstack([sp.csc_matrix(u * pool.R.T), sp.csc_matrix((m, n))])
    caps = sp.hstack([sp.identity(n, format="csc"), sp.csc_matrix((n, n))])
    cones = sp.csc_matrix(
        (np.full(2 * n, -1.0), (np.concatenate([3 * i, 3 * i + 2]), np.concatenate([n + i, i]))), shape=(3 * n, 2 * n)
    )
    right = np.concatenate([np.ones(m), pool.cap / u, np.tile([0.0, 1.0, 0.0], n)])
    settings = solver.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    if tolerance:
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    found = solver.DefaultSolver(
        sp.csc_matrix((2 * n, 2 * n)),
        np.concatenate([np.zeros(n), -n * pool.e]),
        sp.vstack([rows, caps, cones]).tocsc(),
        right,
        [solver.NonnegativeConeT(m + n)] + [solver.ExponentialConeT()] * n,
        settings,
    ).solve()
    return u * np.array(found.x[:n]), np.array(found.z[:m]) / n, str(found.status), found.iterations


def newton(pool):
    """Run a primal-dual interior-point method, then Newton's method on the bottlenecks.

    The problem is min sum_j p_j + sum_i phi_i(sum_j p_j r_ij), p >= 0, with phi_i' = -x_i. The matrix
    is only m x m."""
    R, e, cap = pool.R, pool.e, pool.cap
    m = R.shape[1]
    p, s = np.full(m, 1.0 / m), np.ones(m)

    def response(p, hessian=True):
        paid = R @ p
        with np.errstate(divide="ignore"):
            wanted = e / paid
        free = wanted < cap
        x = np.where(free, wanted, cap)
        H = None
        if hessian:
            slope = np.zeros_like(x)
            slope[free] = x[free] / paid[free]
            H = (R * slope[:, None]).T @ R
        return x, 1 - x @ R, H

    steps = 0
    for steps in range(1, 200):
        x, g, H = response(p)
        mu = p @ s / m
        if np.abs(g - s).max() < 1e-6 and mu < 1e-6 and (np.minimum(p, s) < 0.1 * np.maximum(p, s)).all():
            break
        r1, r2 = s - g, (0.1 if steps > 1 else 0.5) * mu - p * s
        dp = np.linalg.solve(H + np.diag(s / p), r1 + r2 / p)
        ds = (r2 - s * dp) / p
        a = 1.0
        if (dp < 0).any():
            a = min(a, 0.99 * np.min(-p[dp < 0] / dp[dp < 0]))
        if (ds < 0).any():
            a = min(a, 0.99 * np.min(-s[ds < 0] / ds[ds < 0]))
        p, s = p + a * dp, s + a * ds
    active = p > s
    p = np.where(active, p, 0.0)
    best = np.inf, p
    for _ in range(12):
        x, g, H = response(p)
        error = np.abs(g[active]).max(initial=0.0)
        if not error < 0.5 * best[0]:
            break
        best = error, p
        if error < 1e-15:
            break
        p = p.copy()
        p[active] -= np.linalg.solve(H[np.ix_(active, active)], g[active])
        steps += 1
    p = best[1]
    return response(p, False)[0], p, "done", steps


SOLVERS = {
    "cvxpy-ecos": lambda pool: cvxpy(pool, "ECOS", {}),
    "cvxpy-clarabel": lambda pool: cvxpy(pool, "CLARABEL", {}),
    "cvxpy-scs": lambda pool: cvxpy(pool, "SCS", {"eps": 1e-6, "max_iters": 100_000, "time_limit_secs": 60}),
    "clarabel": clarabel,
    "clarabel-tight": lambda pool: clarabel(pool, 1e-12),
    "newton": newton,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("pool")
    parser.add_argument("--solver", choices=SOLVERS, required=True)
    parser.add_argument("--answer")
    parser.add_argument("--repetitions", type=int, default=5)
    args = parser.parse_args()
    pool = read_pool(args.pool)
    if args.solver.startswith("cvxpy"):
        import cvxpy  # noqa: F401, not timed
    solve = SOLVERS[args.solver]
    (x, p, status, steps), wall, cpu = timed(lambda: solve(pool), args.repetitions, 20.0)
    if args.answer:
        np.concatenate([x, p]).astype("<f8").tofile(args.answer)
    emit_pool(args.solver, pool, wall, cpu, mode="pool", status=status, steps=steps)


if __name__ == "__main__":
    main()
