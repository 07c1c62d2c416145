#!/usr/bin/env python3
"""Compute the exact optimum of the one-shot DRFH LP: the largest common level g, with unlimited tasks.

    drfh_exact.py PROBLEM [--solver esolver|glpsol] [--columns shares|tasks] [--repetitions N]
                  [--time-limit S] [-o ALLOCATION]

esolver is the program of QSopt_ex, which computes rationals from a floating-point basis. glpsol is
`glpsol --exact`. The formulation matters a great deal to esolver. With columns in shares, its first
floating-point basis is right. With columns in tasks (whole coefficients, tiny g), it falls back on
128-bit floats. glpsol reads doubles, so only whole numbers reach it without rounding.
The time is that of the whole process: it includes reading the file, but not writing it.
`-o` saves the solution of esolver as an allocation with exact numbers.
"""

import argparse
import json
import os
import resource
import subprocess
import tempfile
import time
from fractions import Fraction
from math import lcm

from common import dominant_shares, emit, peak_mib, read_problem, timed, totals


def rows(problem, in_shares):
    """Return rows as (name, {column: coefficient}, sense, right-hand side); columns are (n, i) and "g".

    With `in_shares`, column (n, i) is the dominant share times the number of servers, as in the
    floating-point peers, and the coefficients are rationals near 1. Otherwise column (n, i) is a
    number of tasks, all coefficients are whole numbers, and g is tiny."""
    mu = dominant_shares(problem)
    total = totals(problem)
    scale = sum(problem.counts)
    by_class, by_user = {}, {}
    for n, allowed in enumerate(problem.allowed):
        for i in allowed:
            if all(d == 0 or c > 0 for d, c in zip(problem.demand[n], problem.capacity[i])):
                by_class.setdefault(i, []).append(n)
                by_user.setdefault(n, []).append((n, i))

    def whole(terms, rhs):
        factor = lcm(rhs.denominator, *(c.denominator for c in terms.values()))
        return {key: c * factor for key, c in terms.items()}, rhs * factor

    for i, users in by_class.items():
        for r, c in enumerate(problem.capacity[i]):
            terms = {(n, i): problem.demand[n][r] for n in users if problem.demand[n][r] > 0}
            rhs = problem.counts[i] * c
            if in_shares:
                terms = {(n, i): d / (total[r] * mu[n]) for (n, i), d in terms.items()}
                rhs = rhs / total[r] * scale
            else:
                terms, rhs = whole(terms, rhs)
            if terms:
                yield f"c{i}_{r}", terms, "<=", rhs
    for n, columns in by_user.items():
        terms = dict.fromkeys(columns, Fraction(1) if in_shares else mu[n]) | {"g": -problem.weights[n]}
        yield f"l{n}", terms if in_shares else whole(terms, Fraction(0))[0], "=", Fraction(0)


def column(key):
    return key if key == "g" else f"x{key[0]}_{key[1]}"


def write_lp(problem, file, in_shares):
    file.write("Maximize\n obj: g\nSubject To\n")
    for name, terms, sense, rhs in rows(problem, in_shares):
        if not in_shares and max(map(abs, [rhs, *terms.values()])) > 2**53:
            raise SystemExit("coefficients beyond 2^53: glpsol would round them")
        words = [f"{'-' if c < 0 else '+'} {abs(c)} {column(key)}" for key, c in terms.items()]
        file.write(f" {name}:")
        for at in range(0, len(words), 6):
            file.write(" " + " ".join(words[at : at + 6]) + "\n")
        file.write(f"  {sense} {rhs}\n")
    file.write("End\n")


def call(command, time_limit):
    """Run the command; return its output and its wall and CPU seconds."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=time_limit, check=False)
    except FileNotFoundError:
        raise SystemExit(f"{command[0]} is not installed") from None
    except subprocess.TimeoutExpired:
        raise SystemExit(f"{command[0]}: not done after {time_limit:g} s") from None
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.stdout + done.stderr, wall, cpu


def esolver(folder, time_limit):
    solution = os.path.join(folder, "solution.sol")
    output, wall, cpu = call(["esolver", "-L", "-O", solution, os.path.join(folder, "problem.lp")], time_limit)
    text = open(solution, encoding="utf-8").read() if os.path.exists(solution) else ""
    if "status OPTIMAL" not in text:
        raise SystemExit(f"esolver: no optimum: {output[-500:]}")
    section = text.split("VARS:", 1)[1].split("REDUCED COST:", 1)[0]
    lines = (line.split(" = ") for line in section.splitlines() if " = " in line)
    return {name.strip(): Fraction(value.strip()) for name, value in lines}, wall, cpu


def glpsol(folder, time_limit):
    report = os.path.join(folder, "report.txt")
    output, wall, cpu = call(
        ["glpsol", "--exact", "--lp", os.path.join(folder, "problem.lp"), "-w", report], time_limit
    )
    if "OPTIMAL" not in output:
        raise SystemExit(f"glpsol: no optimum: {output[-500:]}")
    with open(report, encoding="utf-8") as file:
        level = next(line.split()[-1] for line in file if line.startswith("s bas"))
    return {"g": float(level)}, wall, cpu


def allocation(problem, values, in_shares):
    mu = dominant_shares(problem)
    scale = sum(problem.counts)
    tasks = {}
    for name, value in values.items():
        if name != "g" and value:
            n, i = map(int, name[1:].split("_"))
            x = value / (mu[n] * scale) if in_shares else value
            tasks.setdefault(problem.users[n], {})[problem.servers[i]] = str(x)
    return {"kind": "allocation", "mechanism": "drfh", "sharing": "rdm", "arithmetic": "exact", "tasks": tasks}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("problem")
    parser.add_argument("--solver", choices=["esolver", "glpsol"], default="esolver")
    parser.add_argument("--columns", choices=["shares", "tasks"], default="shares")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--time-limit", type=float, default=600, help="seconds for one run")
    parser.add_argument("-o", "--output", metavar="ALLOCATION", help="esolver's solution")
    args = parser.parse_args()
    if args.solver == "glpsol":
        args.columns = "tasks"
    in_shares = args.columns == "shares"
    problem = read_problem(args.problem)
    solver = {"esolver": esolver, "glpsol": glpsol}[args.solver]
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "problem.lp"), "w", encoding="utf-8") as file:
            write_lp(problem, file, in_shares)
        timed(lambda: runs.append(solver(folder, args.time_limit)), args.repetitions, args.time_limit)
    values = runs[0][0]
    level = values["g"] / sum(problem.counts) if in_shares else values["g"]
    emit(
        f"esolver-{args.columns}" if args.solver == "esolver" else "glpsol-exact",
        problem, [r[1] for r in runs], [r[2] for r in runs],
        mode="one", objective=float(level), objective_digits=len(str(level)), peak_mib=peak_mib(resource.RUSAGE_CHILDREN),
    )  # fmt: skip
    if args.output and args.solver == "esolver":
        with open(args.output, "w", encoding="utf-8") as file:
            json.dump(allocation(problem, values, in_shares), file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
