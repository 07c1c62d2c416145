"""Simulate best-fit or first-fit DRFH task by task.

All tasks wait from the beginning, and the k-th placed task runs for the k-th duration. Each time a task ends, all tasks that fit
are placed. `incremental` tries only the server whose capacity was freed; `naive` scans all servers for every task.
"""

import argparse
import math
import sys

from common import emit_line, read_problem, timed

import numba as nb
import numpy as np

MOST = 2**63 - 1


@nb.njit(cache=True)
def up(times, ids, i):
    while i > 0:
        parent = (i - 1) >> 1
        if times[parent] <= times[i]:
            break
        times[parent], times[i] = times[i], times[parent]
        ids[parent], ids[i] = ids[i], ids[parent]
        i = parent


@nb.njit(cache=True)
def down(times, ids, m):
    i = 0
    while True:
        c = 2 * i + 1
        if c >= m:
            break
        if c + 1 < m and times[c + 1] < times[c]:
            c += 1
        if times[i] <= times[c]:
            break
        times[c], times[i] = times[i], times[c]
        ids[c], ids[i] = ids[i], ids[c]
        i = c


@nb.njit(cache=True)
def simulate(C, D, unit, tasks, durations, incremental, best_fit):
    S, n, n_tasks = C.shape[0], D.shape[0], durations.shape[0]
    f0, f1 = C[:, 0].copy(), C[:, 1].copy()
    waiting, running = tasks.copy(), np.zeros(n, np.int64)
    user_of, server_of = np.empty(n_tasks, np.int32), np.empty(n_tasks, np.int32)
    times, ids = np.empty(n_tasks), np.empty(n_tasks, np.int32)
    m = k = done = h = 0
    t, freed = 0.0, -1
    candidate = np.empty(n, np.bool_)
    while True:
        for u in range(n):
            candidate[u] = waiting[u] > 0
        while True:
            u, least = -1, MOST
            for v in range(n):
                if candidate[v]:
                    score = running[v] * unit[v]
                    if score < least:
                        least, u = score, v
            if u < 0:
                break
            d0, d1, server = D[u, 0], D[u, 1], -1
            if incremental and freed >= 0:
                if f0[freed] >= d0 and f1[freed] >= d1:
                    server = freed
            elif best_fit:
                # |d1/d0 - f1/f0| d0 as a fraction x/f0, compared crosswise, so that equal values compare as equal.
                x_of_best, f_of_best = 1, 0
                for q in range(S):
                    if f0[q] >= d0 and f1[q] >= d1:
                        x = abs(d1 * f0[q] - d0 * f1[q])
                        if x * f_of_best < x_of_best * f0[q]:
                            x_of_best, f_of_best, server = x, f0[q], q
            else:
                for q in range(S):
                    if f0[q] >= d0 and f1[q] >= d1:
                        server = q
                        break
            if server < 0:
                candidate[u] = False
                continue
            f0[server] -= d0
            f1[server] -= d1
            running[u] += 1
            waiting[u] -= 1
            user_of[k], server_of[k] = u, server
            times[m], ids[m] = t + durations[k], k
            up(times, ids, m)
            m += 1
            k += 1
            h = (h * 1000003 + server * 31 + u) & 0xFFFFFFFFFFFF
            if waiting[u] == 0:
                candidate[u] = False
        if m == 0:
            break
        t, j = times[0], ids[0]
        m -= 1
        times[0], ids[0] = times[m], ids[m]
        down(times, ids, m)
        done += 1
        running[user_of[j]] -= 1
        f0[server_of[j]] += D[user_of[j], 0]
        f1[server_of[j]] += D[user_of[j], 1]
        freed = server_of[j]
    return k, h, t


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problem")
    parser.add_argument("durations", help="float64, little-endian")
    parser.add_argument("--variant", choices=["incremental", "naive"], default="incremental")
    parser.add_argument("--server", choices=["best-fit", "first-fit"], default="best-fit")
    parser.add_argument("--repetitions", type=int, default=1)
    call = parser.parse_args()
    problem = read_problem(call.problem)
    C = np.repeat(np.array(problem.capacity, dtype=np.int64), problem.counts, axis=0)
    D = np.array(problem.demand, dtype=np.int64)
    # Weighted dominant shares times a common factor that makes them integers, so that equal shares stay equal.
    total, weights = [int(c) for c in C.sum(0)], [int(w) for w in problem.weights]
    common = math.lcm(*weights)
    unit = [max(int(d[0]) * total[1], int(d[1]) * total[0]) * common // w for d, w in zip(D, weights)]
    if max(u * int(t) for u, t in zip(unit, problem.tasks)) >= MOST:
        raise SystemExit("the shares are beyond 64 bits")
    unit = np.array(unit, dtype=np.int64)
    tasks = np.array([int(t) for t in problem.tasks], dtype=np.int64)
    durations = np.fromfile(call.durations, dtype="<f8")
    arguments = (C, D, unit)
    rest = (call.variant == "incremental", call.server == "best-fit")
    few = np.minimum(tasks, 2)
    simulate(*arguments, few, durations[: few.sum()], *rest)  # compiles
    (placed, h, end), wall, cpu = timed(lambda: simulate(*arguments, tasks, durations, *rest), call.repetitions)
    sizes = {"users": len(D), "servers": len(C), "tasks": int(tasks.sum())}
    emit_line(f"simulation-{call.variant}", sizes, wall, cpu, placed=int(placed), placements=f"{h:016x}", end=end)


if __name__ == "__main__":
    sys.exit(main())
