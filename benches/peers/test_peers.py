#!/usr/bin/env python3
"""Test that the peers agree with each other: .tools/peers/bin/python -m unittest benches/peers/test_peers.py

The problems are small, random, and have placement constraints, zero demands and finite tasks. The
timed instances have none of these.
"""

import os
import random
import sys
import unittest
from fractions import Fraction

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import Pool, Problem, shares

import numpy as np

import drfh_cvxpy
import drfh_highspy
import envy
import pool
import trajectory


def fits(problem, n, i):
    return all(d == 0 or c > 0 for d, c in zip(problem.demand[n], problem.capacity[i]))


def random_problem(rng, n_users, n_classes, n_resources):
    def some(low, high, denominators):
        return Fraction(rng.randint(low, high), rng.randint(1, denominators))

    demand = [[some(0, 3, 3) for _ in range(n_resources)] for _ in range(n_users)]
    for row in demand:
        row[0] = row[0] if any(row) else Fraction(1)
    every = tuple(range(n_classes))
    return Problem(
        name="random",
        resources=[f"r{r}" for r in range(n_resources)],
        servers=[f"s{i}" for i in every],
        counts=[rng.randint(1, 5) for _ in every],
        capacity=[[Fraction(rng.randint(1, 9)) for _ in range(n_resources)] for _ in every],
        users=[f"u{n}" for n in range(n_users)],
        weights=[some(1, 3, 2) for _ in range(n_users)],
        tasks=[None if rng.random() < 0.5 else some(0, 6, 2) for _ in range(n_users)],
        demand=demand,
        allowed=[
            tuple(sorted(rng.sample(every, rng.randint(1, n_classes)))) if rng.random() < 0.5 else every
            for _ in range(n_users)
        ],
    )


def random_pool(rng, n, m):
    R = np.array([[rng.uniform(0.05, 1) if rng.random() < 0.7 else 0.0 for _ in range(m)] for _ in range(n)])
    R[np.arange(n), [rng.randrange(m) for _ in range(n)]] = 0.5
    e = np.array([rng.uniform(0.2, 1) for _ in range(n)])
    return Pool(R, e / e.sum(), np.array([rng.uniform(0.02, 1) for _ in range(n)]))


class Peers(unittest.TestCase):
    def test_newton_and_cones_agree_on_the_optimum(self):
        rng = random.Random(3)
        for case in range(30):
            instance = random_pool(rng, rng.randint(2, 30), rng.randint(1, 6))
            by_hand = pool.newton(instance)[0]
            self.assertLess((by_hand @ instance.R).max(), 1 + 1e-12, case)
            for solver in ("cvxpy-ecos", "cvxpy-clarabel", "clarabel"):
                self.assertLess(abs(pool.SOLVERS[solver](instance)[0] - by_hand).max(), 1e-4, (case, solver))

    def test_all_integrations_follow_the_same_trajectory(self):
        rng = random.Random(4)
        for case in range(5):
            instance = random_pool(rng, 12, 3)
            ends = [
                trajectory.integrate(instance, method, solves, state, 1e-10, 100.0)[0]
                for method in ("RK45", "DOP853")
                for solves in ("woodbury", "dense")
                for state in ("plain", "slacks")
            ]
            x, s = ends[0], 1 - ends[0] @ instance.R
            pull = x * (instance.R @ (1 / s) + 1 / (instance.cap - x)) / (100 * instance.e)
            self.assertLess(abs(pull - 1).max(), 1e-6, case)
            for end in ends:
                self.assertLess(abs(end - ends[0]).max(), 1e-7, case)

    def test_highspy_and_cvxpy_give_the_same_shares(self):
        rng = random.Random(1)
        for case in range(40):
            problem = random_problem(rng, rng.randint(1, 12), rng.randint(1, 5), rng.randint(1, 3))
            lp = shares(problem)
            found = [drfh_highspy.allocate(lp, o, "lex")[1].sum(1) for o in drfh_highspy.OPTIONS.values()]
            found += [drfh_cvxpy.allocate(lp, v, "lex")[1].sum(1) for v in drfh_cvxpy.OPTIONS]
            for y in found:
                self.assertLess(abs(y - found[0]).max(), 1e-9 * lp.scale, case)
                self.assertTrue((y <= lp.limit * (1 + 1e-9)).all(), case)

    def test_envy_in_integers_agrees_with_envy_in_fractions(self):
        rng = random.Random(2)
        verdicts = set()
        for case in range(500):
            problem = random_problem(rng, rng.randint(1, 6), rng.randint(1, 4), rng.randint(1, 3))
            problem.capacity = [[c if rng.random() < 0.8 else Fraction(0) for c in row] for row in problem.capacity]
            x = [
                [
                    Fraction(rng.randint(0, 3), rng.randint(1, 2)) if i in allowed and fits(problem, n, i) else Fraction(0)
                    for i in range(len(problem.servers))
                ]
                for n, allowed in enumerate(problem.allowed)
            ]
            expected = envy.plain(problem, x)
            self.assertEqual(envy.integers(problem, x), expected, case)
            verdicts.add(expected[0] is not None and expected[0] >= 0)
        self.assertEqual(verdicts, {True, False})


if __name__ == "__main__":
    unittest.main()
