#!/usr/bin/env python3
"""Maximise the weighted number of tasks with cvxpy.

    cvxpy_linear.py SOLVER PROBLEM ANSWER KIND

SOLVER is one of CLARABEL, SCS, ECOS, OSQP.
"""

import sys

from common import NOT_MINE, Cluster

solver, problem, answer, kind = sys.argv[1:]
if kind != "utilitarian":
    sys.exit(NOT_MINE)

import cvxpy as cp

cluster = Cluster(problem, kind)
x = cp.Variable(cluster.A.shape[1], nonneg=True)
asked = cp.Problem(cp.Maximize(cluster.w @ (cluster.S @ x)), [cluster.A @ x <= cluster.b])
asked.solve(solver=solver)
cluster.write(answer, x.value, kind, asked.status)
