#!/usr/bin/env python3
"""Solve a linear programme with scipy.optimize.linprog: scipy_linear.py METHOD MPS ANSWER, METHOD one of highs-ds, highs-ipm."""

import sys

import highspy
import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from common import write_columns

method, mps, answer = sys.argv[1:]
reader = highspy.Highs()
reader.setOptionValue("output_flag", False)
reader.readModel(mps)
lp = reader.getLp()
shape, matrix = (lp.num_row_, lp.num_col_), lp.a_matrix_
A = sp.csc_matrix((matrix.value_, matrix.index_, matrix.start_), shape=shape).tocsr()
costs = np.array(lp.col_cost_) * (-1 if lp.sense_ == highspy.ObjSense.kMaximize else 1)
lower, upper = np.array(lp.row_lower_), np.array(lp.row_upper_)
equal = lower == upper
below, above = np.isfinite(upper) & ~equal, np.isfinite(lower) & ~equal
found = linprog(
    costs,
    A_ub=sp.vstack([A[below], -A[above]]),
    b_ub=np.concatenate([upper[below], -lower[above]]),
    A_eq=A[equal],
    b_eq=upper[equal],
    bounds=list(zip(lp.col_lower_, lp.col_upper_)),
    method=method,
)
write_columns(answer, lp.col_names_, [] if found.x is None else found.x, found.message.replace("\n", " "))
