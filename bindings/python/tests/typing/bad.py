"""Programs with a mistake in every line marked `bad`. Only mypy finds a mistake marked `bad: mypy`."""

import evenhand as eh

problem = eh.Problem.from_arrays([[1]], [[1]])
problem.solve("drhf")  # bad
problem.solve("drfh").totls  # bad
problem.solve("drfh", exat=True)  # bad
problem.solve("drfh", alpha=2)  # bad
problem.solve("alpha")  # bad
problem.solve("slots")  # bad
problem.solve("alpha", alfa=2)  # bad
problem.solve("fill", score="drr")  # bad
problem.solve("tree", rule="kai").totals  # bad
problem.solve("tree", rule="kau")  # bad
problem.compare(["drfh", "tfs"])  # bad
problem.compare(["drfh"])["drfh"].verdict  # bad
problem.judge([[1]]).verdicts["feasible"].hold  # bad
problem.judge([[1]]).verdicts["feasible"].outcome == "hold"  # bad: mypy
problem.judge([[1]], tolerance=[1])  # bad
problem.capacity.shap  # bad
eh.compare("x.json", ["drfh"])  # bad
eh.accuracy(lambda problem: [[1]], problem, "proportionl")  # bad
eh.audit("drhf")  # bad
eh.lp.solve([1], maximize=True)  # bad
eh.lp.solve([1]).objectiv  # bad
eh.lp.solve([1]).status == "optimum"  # bad: mypy
eh.lp.solve([1], seconds=[1])  # bad
eh.lp.check(3, [1])  # bad


@eh.mechanism("scaled")
def scaled(problem: eh.Problem, factor: int) -> object:
    return {}


problem.solve(scaled, "2")  # bad
problem.solve(scaled, fctor=2)  # bad
problem.solve(scaled)  # bad
scaled.nam  # bad
eh.mechanism("x", sharing="rdmm")  # bad


@eh.mechanism("no-problem")  # bad
def no_problem(number: int) -> object:
    return {}
