"""Programs that type checkers accept."""

from fractions import Fraction
from typing import List

import numpy as np
from numpy.typing import NDArray

import evenhand as eh

problem = eh.Problem.from_arrays([[2, 12], [12, 2]], [[0.2, 1], [1, 0.2]])
totals: "dict[str, Fraction]" = problem.solve("drfh").totals
problem.solve("drfh", seconds=1.5, seed=3)
problem.solve("drfh", exact=False)
problem.solve("alpha", alpha="1/2", per_weight=True)
problem.solve("slots", slots=14, ties="low")
problem.solve("fill", score="tsf", server="best-fit", ties="random")
problem.solve("tree", rule="kueue").totals
problem.solve("tree", rule="kai").to_json()
names: List[eh.MechanismName] = ["drfh", "tsf"]
compared = problem.compare(names, tolerance=1e-6)
ok: bool = compared["drfh"].verdicts["envy-free"].outcome == "holds"
capacity: NDArray[np.float64] = problem.capacity
mask: NDArray[np.bool_] = problem.eligible
judged = problem.judge(np.zeros((2, 2)), 1e-6, axioms=["envy-free"])
if judged.verdicts["envy-free"].holds is None:
    print(judged.verdicts["envy-free"].why)


@eh.mechanism("scaled", axiom="envy-free")
def scaled(problem: eh.Problem, divisor: int, *, twice: bool = False) -> "NDArray[np.float64]":
    return problem.solve("drfh").to_numpy() / divisor


@eh.mechanism
def plain(problem: eh.Problem) -> object:
    return problem.solve("tsf").tasks


a: eh.Allocation = problem.solve(scaled, 2, twice=True)
b: eh.Allocation = problem.solve(scaled, divisor=2)
c: eh.Allocation = problem.solve(plain)
d: eh.Allocation = problem.solve(lambda problem: problem.solve("drfh"))
eh.compare(problem, ["drfh", plain])
eh.sweep([problem], ["drfh", plain, ("alpha", {"alpha": 2})], backend="sequential")
eh.sweep([problem], {"a": "drfh", "b": plain}, backend="sequential")
solution = eh.lp.solve(np.array([-1, "1/2"], object), [[1, 1]], [Fraction(3, 7)], bounds=[(0, None), (0, 2.5)], seconds=60)
if solution.status == "optimal" and solution.x is not None and solution.y_ub is not None:
    best: Fraction = solution.x[0] + solution.y_ub[0]
programme: eh.lp.Programme = eh.lp.Programme([1, 1], [[1, 2]], row_lower=[1], row_upper=[3], maximise=True)
verdict: eh.lp.Judgement = eh.lp.check(programme, np.array([1.0, 1.0]), y={"r0": 1}, tolerance="1e-9")
largest = verdict.row_violation
if largest is not None:
    print(largest.name, float(largest.by))
print(eh.audit(plain, instances=20).violated)
for name in eh.mechanisms():
    try:
        if name != "alpha" and name != "slots":
            problem.solve(name)
    except eh.NotApplicable as error:
        print(error)
