"""Shared code of the programs of `bench accuracy --solver`: a problem as arrays, and answers as files."""

import json
import os
import sys
from fractions import Fraction

# Each program uses one thread. The variables must be set before numpy is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import scipy.sparse as sp

NOT_MINE = 77  # the exit status of a program that does not support the kind of problem


class Cluster:
    """The problem max sum_n w_n u(x_n) over A x <= b, x >= 0, x_n = (S x)_n; `places[k]` is the user and class of variable k."""

    def __init__(self, path, kind):
        number = lambda value: float(Fraction(value))
        with open(path, encoding="utf-8") as file:
            doc = json.load(file, parse_float=Fraction, parse_int=int)
        self.names = [user["name"] for user in doc["users"]], [server["name"] for server in doc["servers"]]
        amounts = lambda of: [number(of.get(r, 0)) for r in doc["resources"]]
        capacity = np.array([amounts(s["capacity"]) for s in doc["servers"]])
        capacity *= np.array([[number(s.get("count", 1))] for s in doc["servers"]])
        self.places, rows, b = [], [], list(np.ones(len(capacity)) if kind == "market" else capacity.ravel())
        for n, user in enumerate(doc["users"]):
            if user.keys() & {"gamma", "demand_on"}:
                sys.exit(NOT_MINE)
            demand = np.array(amounts(user.get("demand", {})))
            for i, server in enumerate(self.names[1]):
                if server not in user.get("servers", [server]) or (capacity[i][demand > 0] == 0).any():
                    continue
                if kind == "market":
                    rows.append([(i, 1 / min(capacity[i][demand > 0] / demand[demand > 0]))])
                else:
                    rows.append([(i * len(demand) + r, d) for r, d in enumerate(demand) if d > 0])
                self.places.append((n, i))
        limits = {n: number(user["tasks"]) for n, user in enumerate(doc["users"]) if "tasks" in user}
        at = {n: len(b) + k for k, n in enumerate(limits)}
        entries = [(row, k, value) for k, uses in enumerate(rows) for row, value in uses]
        entries += [(at[n], k, 1.0) for k, (n, _) in enumerate(self.places) if n in at]
        self.b = np.array(b + list(limits.values()))
        row, column, value = zip(*entries)
        self.A = sp.csr_matrix((value, (row, column)), shape=(len(self.b), len(self.places)))
        self.used = sorted({n for n, _ in self.places})
        index = {n: k for k, n in enumerate(self.used)}
        ones = np.ones(len(self.places)), ([index[n] for n, _ in self.places], range(len(self.places)))
        self.S = sp.csr_matrix(ones, shape=(len(self.used), len(self.places)))
        self.w = np.array([number(doc["users"][n].get("weight", 1)) for n in self.used])

    def write(self, path, x, kind, status, objective=None):
        tasks = {}
        for (n, i), value in zip(self.places, x):
            if value != 0:
                tasks.setdefault(self.names[0][n], {})[self.names[1][i]] = float(value)
        sharing = "tdm" if kind == "market" else "rdm"
        answer = {"kind": "allocation", "sharing": sharing, "arithmetic": "float", "tasks": tasks, "status": str(status)}
        with open(path, "w", encoding="utf-8") as file:
            json.dump(answer, file)


def write_columns(path, names, values, status):
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"# status {status}\n")
        file.writelines(f"{name} {float(value)!r}\n" for name, value in zip(names, values))
