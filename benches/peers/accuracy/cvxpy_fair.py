#!/usr/bin/env python3
"""Maximise sums of utilities with cvxpy: cvxpy_fair.py SOLVER PROBLEM ANSWER KIND ALPHA, SOLVER one of CLARABEL, SCS, ECOS."""

import sys
from fractions import Fraction

from common import NOT_MINE, Cluster

solver, problem, answer, kind, alpha = sys.argv[1:]
if kind not in ("pool", "proportional", "alpha", "market", "njc"):
    sys.exit(NOT_MINE)

import cvxpy as cp

cluster, a = Cluster(problem, kind), float(Fraction(alpha))
x = cp.Variable(cluster.A.shape[1], nonneg=True)
U = cluster.S @ x
worth = cp.log(U) if a == 1 else cp.power(U, 1 - a) / (1 - a)
asked = cp.Problem(cp.Maximize(cluster.w / cluster.w.sum() @ worth), [cluster.A @ x <= cluster.b])
asked.solve(solver=solver)
cluster.write(answer, x.value, kind, asked.status)
