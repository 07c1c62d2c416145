#!/usr/bin/env python3
"""Solve the configuration LP or run the greedy placement of a reservation problem in plain Python.

    reservation.py PROBLEM [--solver enumeration|columns|greedy] [--servers L] [--repetitions K]

enumeration  all maximal configurations by numba, one LP by highspy
columns      column generation: highspy, pricing by a knapsack over the grid of capacities (numba)
greedy       the greedy placement on L servers; best configurations by the same knapsack in pure
             Python, without dependencies

The problem is one pool of two resources with whole capacities and demands, the best case for these
methods. Duals and stopping tests are in floating point, so no result is proven. The time does not
include compilation.
"""

import argparse
import math
import os
import sys

from common import emit_reservation, number, read_json, timed

TOLERANCE = 1e-9


class Reservation:
    def __init__(self, path):
        doc = read_json(path)
        if doc.get("kind") != "reservation-problem" or "configurations" in doc:
            raise SystemExit(f"{path}: not a reservation problem with capacities")
        if len(doc["servers"]) != 1 or len(doc["resources"]) != 2:
            raise SystemExit(f"{path}: this peer takes one pool of two resources")
        resources = doc["resources"]

        def whole(amounts):
            values = [number(amounts.get(r, 0)) for r in resources]
            if any(v.denominator != 1 for v in values):
                raise SystemExit(f"{path}: this peer takes whole numbers")
            return tuple(int(v) for v in values)

        self.name = doc.get("name", os.path.basename(path))
        self.capacity = whole(doc["servers"][0]["capacity"])
        self.types = [whole(job["demand"]) for job in doc["jobs"]]
        self.reward = [number(job["reward"]) for job in doc["jobs"]]
        self.load = [number(job["load"]) for job in doc["jobs"]]


def most(problem, j):
    return min(c // d for c, d in zip(problem.capacity, problem.types[j]) if d)


def numba_kernels():
    import numba as nb
    import numpy as np

    @nb.njit
    def enumerate_maximal(types, cpu, memory, out):
        """Write every configuration to which no job can be added, and return the number of configurations."""
        n = types.shape[0]
        k = np.zeros(n, np.int64)
        c, m, count = cpu, memory, 0
        while True:
            maximal = True
            for j in range(n):
                if types[j, 0] <= c and types[j, 1] <= m:
                    maximal = False
                    break
            if maximal:
                if count < out.shape[0]:
                    for j in range(n):
                        out[count, j] = k[j]
                count += 1
            j = n - 1
            while j >= 0:
                if types[j, 0] <= c and types[j, 1] <= m:
                    k[j] += 1
                    c -= types[j, 0]
                    m -= types[j, 1]
                    break
                c += types[j, 0] * k[j]
                m += types[j, 1] * k[j]
                k[j] = 0
                j -= 1
            if j < 0:
                return count

    @nb.njit
    def knapsack(types, profit, cpu, memory):
        n = types.shape[0]
        best = np.zeros((cpu + 1, memory + 1))
        choice = np.full((cpu + 1, memory + 1), -1, np.int64)
        for c in range(cpu + 1):
            for m in range(memory + 1):
                for j in range(n):
                    a, b = types[j, 0], types[j, 1]
                    if a <= c and b <= m and profit[j] > 0:
                        value = best[c - a, m - b] + profit[j]
                        if value > best[c, m] + 1e-15:
                            best[c, m] = value
                            choice[c, m] = j
        k = np.zeros(n)
        c, m = cpu, memory
        while choice[c, m] >= 0:
            j = choice[c, m]
            k[j] += 1
            c -= types[j, 0]
            m -= types[j, 1]
        return best[cpu, memory], k

    return enumerate_maximal, knapsack


def quiet_model():
    import highspy

    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    model.setOptionValue("threads", 1)
    return model


def rows(model, problem):
    """Add the rows and the columns y: slots of each type, sum_k x_k k_j - y_j >= 0, then the servers, sum_k x_k <= 1."""
    import highspy
    import numpy as np

    n = len(problem.types)
    for _ in range(n):
        model.addRow(0.0, highspy.kHighsInf, 0, np.array([], np.int32), np.array([]))
    model.addRow(-highspy.kHighsInf, 1.0, 0, np.array([], np.int32), np.array([]))
    for j in range(n):
        reward, load = float(problem.reward[j]), float(problem.load[j])
        model.addCol(-reward, 0.0, load, 1, np.array([j], np.int32), np.array([-1.0]))


def enumeration(problem, kernels):
    import highspy
    import numpy as np

    enumerate_maximal, _ = kernels
    types = np.array(problem.types, np.int64)
    n = len(types)
    count = enumerate_maximal(types, *problem.capacity, np.zeros((0, n), np.int16))
    configurations = np.zeros((count, n), np.int16)
    enumerate_maximal(types, *problem.capacity, configurations)
    model = quiet_model()
    rows(model, problem)
    used = configurations != 0
    lengths = used.sum(1) + 1
    starts = np.concatenate([[0], np.cumsum(lengths)])
    index = np.full(starts[-1], n, np.int32)
    value = np.ones(starts[-1])
    place = np.ones(starts[-1], bool)
    place[starts[1:] - 1] = False
    which = np.nonzero(used)
    index[place] = which[1]
    value[place] = configurations[which]
    zeros = np.zeros(count)
    model.addCols(count, zeros, zeros, np.full(count, highspy.kHighsInf), starts[-1], starts[:-1].astype(np.int32), index, value)
    model.run()
    return -model.getInfo().objective_function_value, int(count)


def columns(problem, kernels):
    import highspy
    import numpy as np

    _, knapsack = kernels
    types = np.array(problem.types, np.int64)
    n = len(types)
    model = quiet_model()
    rows(model, problem)
    for j in range(n):
        model.addCol(0.0, 0.0, highspy.kHighsInf, 2, np.array([j, n], np.int32), np.array([float(most(problem, j)), 1.0]))
    count = n
    while True:
        model.run()
        dual = np.array(model.getSolution().row_dual)
        profit = np.abs(dual[:n])
        value, k = knapsack(types, profit, *problem.capacity)
        if value <= abs(dual[n]) + TOLERANCE:
            return -model.getInfo().objective_function_value, count
        used = np.nonzero(k)[0]
        model.addCol(0.0, 0.0, highspy.kHighsInf, len(used) + 1, np.append(used, n).astype(np.int32), np.append(k[used], 1.0))
        count += 1


def best_configuration(problem, remaining):
    """Return the MaxReward configuration of the remaining types; the knapsack decides ties."""
    cpu, memory = problem.capacity
    types = [(problem.types[j], float(problem.reward[j]), j) for j in remaining if problem.reward[j] > 0]
    best = [[0.0] * (memory + 1) for _ in range(cpu + 1)]
    choice = [[-1] * (memory + 1) for _ in range(cpu + 1)]
    for c in range(cpu + 1):
        row, chosen = best[c], choice[c]
        for (a, b), reward, j in types:
            if a > c:
                continue
            before = best[c - a]
            for m in range(b, memory + 1):
                value = before[m - b] + reward
                if value > row[m] + 1e-12:
                    row[m], chosen[m] = value, j
    k = [0] * len(problem.types)
    c, m = cpu, memory
    while choice[c][m] >= 0:
        j = choice[c][m]
        k[j] += 1
        c, m = c - problem.types[j][0], m - problem.types[j][1]
    return k


def greedy(problem, servers):
    left = [math.floor(load * servers) for load in problem.load]
    remaining = [j for j, count in enumerate(left) if count > 0]
    free, reward, steps = servers, 0.0, 0
    while remaining and free:
        k = best_configuration(problem, remaining)
        needs = [-(-left[j] // k[j]) if k[j] else free + 1 for j in remaining]
        used = min(min(needs), free)
        if not any(k):
            break
        for j in remaining:
            served = min(left[j], k[j] * used)
            reward += float(problem.reward[j]) * served
            left[j] -= served
        free -= used
        remaining = [j for j in remaining if left[j] > 0]
        steps += 1
    return reward / servers, steps


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problem")
    parser.add_argument("--solver", choices=["enumeration", "columns", "greedy"], default="columns")
    parser.add_argument("--servers", type=int, default=1000)
    parser.add_argument("--repetitions", type=int, default=5)
    call = parser.parse_args()
    problem = Reservation(call.problem)
    if call.solver == "greedy":
        run = lambda: greedy(problem, call.servers)
    else:
        kernels = numba_kernels()
        small = Reservation(call.problem)
        small.capacity = tuple(max(t[r] for t in small.types) for r in range(2))
        solver = {"enumeration": enumeration, "columns": columns}[call.solver]
        solver(small, kernels)  # compiles
        run = lambda: solver(problem, kernels)
    (value, size), wall, cpu = timed(run, call.repetitions)
    emit_reservation(f"reservation-{call.solver}", problem, wall, cpu, value=value, size=size)


if __name__ == "__main__":
    sys.exit(main())
