#!/usr/bin/env python3
"""Solve a linear programme with PDLP of OR-tools: ortools_linear.py TOLERANCE MPS ANSWER."""

import sys

from ortools.pdlp import solve_log_pb2, solvers_pb2
from ortools.pdlp.python import pdlp

from common import write_columns

tolerance, mps, answer = sys.argv[1:]
programme = pdlp.read_quadratic_program_or_die(mps, include_names=True)
params = solvers_pb2.PrimalDualHybridGradientParams()
bounds = params.termination_criteria.simple_optimality_criteria
bounds.eps_optimal_relative = bounds.eps_optimal_absolute = float(tolerance)
found = pdlp.primal_dual_hybrid_gradient(programme, params)
status = solve_log_pb2.TerminationReason.Name(found.solve_log.termination_reason)
write_columns(answer, programme.variable_names, found.primal_solution, status)
