#!/usr/bin/env python3
"""Check the weighted envy-freeness of an exact allocation with Python integers.

    envy.py PROBLEM ALLOCATION [--repetitions N] [--plain]

docs/axioms.md: x_n >= min(T_n, sum_i min_r (w_n/w_m) x_mi d_mr/d_nr) for all m != n, over the
classes i that n may use and the resources r with d_nr > 0. A demand is the same on all classes, so it
can be moved out of the sum: (w_n/w_m) S_m min_r d_mr/d_nr, where S_m = sum of x_mi over the classes
of n. With one common denominator for the S_m/w_m, whole demands, and L_n = lcm of the d_nr, a pair
costs one product per resource and a comparison. --plain evaluates the formula as written, with
`Fraction`. The time runs from the parsed files to the verdict.
"""

import argparse
from fractions import Fraction
from math import ceil, lcm

from common import emit, number, read_json, read_problem, timed


def read_allocation(path, problem):
    """Return the allocation x[n][i]."""
    user = {name: n for n, name in enumerate(problem.users)}
    server = {name: i for i, name in enumerate(problem.servers)}
    x = [[Fraction(0)] * len(problem.servers) for _ in problem.users]
    for name, placed in read_json(path)["tasks"].items():
        for class_name, amount in placed.items():
            x[user[name]][server[class_name]] = number(amount)
    return x


def takes_part(problem, n):
    """Return True if the user can envy: it has tasks, and at least one class can run them."""
    fits = any(
        all(d == 0 or c > 0 for d, c in zip(problem.demand[n], problem.capacity[i])) for i in problem.allowed[n]
    )
    return fits and problem.tasks[n] != 0


def plain(problem, x):
    """Return the least slack over all pairs and the number of pairs with slack 0, by the formula as written."""
    worst, ties = None, 0
    for n, demand in enumerate(problem.demand):
        if not takes_part(problem, n):
            continue
        own = sum(x[n])
        for m, other in enumerate(problem.demand):
            if m == n:
                continue
            worth = problem.weights[n] / problem.weights[m] * sum(
                min(x[m][i] * a / d for a, d in zip(other, demand) if d > 0) for i in problem.allowed[n]
            )
            slack = own - (worth if problem.tasks[n] is None else min(problem.tasks[n], worth))
            ties += slack == 0
            worst = slack if worst is None else min(worst, slack)
    return worst, ties


def integers(problem, x):
    """Return the same result as `plain`, computed with integers."""
    n_users = range(len(problem.users))
    scale = lcm(*(d.denominator for demand in problem.demand for d in demand))
    demand = [[int(d * scale) for d in row] for row in problem.demand]
    columns = [list(column) for column in zip(*demand)]

    # S_m/w_m as whole numbers over one denominator, computed once for every set of allowed classes
    sums = {}
    for allowed in set(problem.allowed):
        sums[allowed] = [sum(x[m][i] for i in allowed) / problem.weights[m] for m in n_users]
    common = lcm(*(s.denominator for values in sums.values() for s in values))
    sums = {key: [s.numerator * (common // s.denominator) for s in values] for key, values in sums.items()}

    worst, ties = None, 0
    for n in n_users:
        if not takes_part(problem, n):
            continue
        wanted = [r for r, d in enumerate(demand[n]) if d > 0]
        unit = lcm(*(demand[n][r] for r in wanted))
        factors = [unit // demand[n][r] for r in wanted]
        values = sums[problem.allowed[n]]
        if len(wanted) == 2:
            (a, b), (f, g) = (columns[r] for r in wanted), factors
            worth = [s * (p if (p := f * da) < (q := g * db) else q) for s, da, db in zip(values, a, b)]
        else:
            scaled = ([f * d for d in columns[r]] for f, r in zip(factors, wanted))
            worth = [s * least for s, least in zip(values, map(min, *scaled) if len(wanted) > 1 else next(scaled))]
        # the worth of m's bundle to n is worth[m] times this factor; n itself is left out
        per = problem.weights[n] / (unit * common)
        del worth[n]
        if not worth:
            continue
        own, tasks = sum(x[n]), problem.tasks[n]
        level = own / per
        if tasks is None or own < tasks:
            ties += worth.count(level.numerator) if level.denominator == 1 else 0
        elif own == tasks:
            least = ceil(level)
            ties += sum(w >= least for w in worth)
        best = max(worth) * per
        if tasks is not None:
            best = min(best, tasks)
        slack = own - best
        worst = slack if worst is None else min(worst, slack)
    return worst, ties


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("problem")
    parser.add_argument("allocation")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--plain", action="store_true", help="the reference: Fractions, every pair")
    args = parser.parse_args()
    problem = read_problem(args.problem)
    x = read_allocation(args.allocation, problem)
    examine = plain if args.plain else integers
    (margin, ties), wall, cpu = timed(lambda: examine(problem, x), args.repetitions)
    margin = Fraction(0) if margin is None else margin
    emit(
        "python-fractions" if args.plain else "python-integers", problem, wall, cpu,
        holds=margin >= 0, margin=str(margin), ties=ties, pairs=len(problem.users) * (len(problem.users) - 1),
    )  # fmt: skip


if __name__ == "__main__":
    main()
