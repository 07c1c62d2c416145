#!/usr/bin/env python3
"""Solve a linear programme with highspy: highspy_linear.py SOLVER MPS ANSWER, SOLVER one of simplex, ipm, pdlp."""

import sys

import highspy

from common import write_columns

solver, mps, answer = sys.argv[1:]
model = highspy.Highs()
model.setOptionValue("output_flag", False)
model.setOptionValue("solver", solver)
model.readModel(mps)
model.run()
names, values = model.getLp().col_names_, model.getSolution().col_value
write_columns(answer, names, values, model.modelStatusToString(model.getModelStatus()))
