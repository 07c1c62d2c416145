#!/usr/bin/env python3
"""Solve a linear programme with scipy.optimize.linprog: scipy_linear.py METHOD MPS ANSWER, METHOD one of highs-ds, highs-ipm."""

import sys

import highspy
import scipy.sparse as sp
from scipy.optimize import linprog

from common import write_columns

method, mps, answer = sys.argv[1:]
reader = highspy.Highs()
reader.setOptionValue("output_flag", False)
reader.readModel(mps)
lp = reader.getLp()
shape, matrix = (lp.num_row_, lp.num_col_), lp.a_matrix_
A = sp.csc_matrix((matrix.value_, matrix.index_, matrix.start_), shape=shape)
found = linprog([-cost for cost in lp.col_cost_], A_ub=A, b_ub=lp.row_upper_, method=method)
write_columns(answer, lp.col_names_, found.x, found.message.replace("\n", " "))
