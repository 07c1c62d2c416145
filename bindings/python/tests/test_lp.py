"""Linear programmes: exact answers with proofs, answers of other solvers, and bad input."""

import itertools
import json
import math
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenhand as eh
from conftest import EXAMPLES

#: The example of Hillier and Lieberman (Wyndor Glass): max 3 x + 5 y.
C, A, B = [3, 5], [[1, 0], [0, 2], [3, 2]], [4, 12, 18]
MPS, SOL = EXAMPLES / "linear-programme.mps", EXAMPLES / "linear-programme.sol"


def wyndor(**more):
    return eh.lp.Programme.from_linprog(C, A, B, maximise=True, **more)


# --- optima, by hand -------------------------------------------------------------------------------------------------


def test_a_maximum_has_prices_and_a_proof():
    s = eh.lp.solve(C, A, B, maximise=True)
    assert (s.status, s.objective, s.bound, s.x) == ("optimal", 36, 36, [2, 6])
    assert all(type(value) is Fraction for value in [s.objective, *s.x, *s.y])
    # One more unit of the second plant is worth 3/2, and of the third 1.
    assert s.y == s.y_ub == [0, Fraction(3, 2), 1] and s.y_eq == []
    assert s.reduced_costs == [0, 0]
    assert s.values == {"x0": 2, "x1": 6} and s.prices == {"ub0": 0, "ub1": Fraction(3, 2), "ub2": 1}
    assert s.farkas is None and s.ray is None and s.empty is None and not s.relaxed
    assert "the optimum is 36" in s.check()
    assert str(s).startswith("Optimal: the objective is 36.") and repr(s) == "<Solution: optimal, objective 36>"


def test_prices_are_changes_of_the_stated_objective():
    for maximise in (True, False):
        sign = 1 if maximise else -1
        stated = ([sign * cost for cost in C], A, B)
        s = eh.lp.solve(*stated, maximise=maximise)
        for row, price in enumerate(s.y_ub):
            more = [*B]
            more[row] += Fraction(1, 1000)
            changed = eh.lp.solve(stated[0], A, more, maximise=maximise)
            assert changed.objective - s.objective == price / 1000
        assert s.objective == sign * 36
    s = eh.lp.solve([1, 2], A_eq=[[1, 1]], b_eq=[3], A_ub=[[1, 0]], b_ub=[1])
    assert (s.x, s.y_ub, s.y_eq) == ([1, 2], [-1], [2])
    # The second column costs 1 more than the price of its row.
    s = eh.lp.solve([1, 3], A_eq=[[1, 2]], b_eq=[3])
    assert (s.x, s.y_eq, s.reduced_costs) == ([3, 0], [1], [0, 1])


@pytest.mark.parametrize("kind", [float, np.float64, np.float32, str, Decimal])
def test_a_float_means_its_shortest_decimal(kind):
    s = eh.lp.solve([kind("0.1")], A_ub=[[-1]], b_ub=[kind("-0.3")], bounds=(None, None))
    assert s.objective == Fraction(3, 100) and s.x == [Fraction(3, 10)]


def test_numbers_of_all_kinds_are_exact():
    third = Fraction(1, 3)
    s = eh.lp.solve(["1/3", third, Decimal("0.25"), 10**30], [[-1, -1, -1, -1]], ["-3/7"])
    assert s.objective == Fraction(1, 4) * Fraction(3, 7)
    s = eh.lp.solve([1], A_eq=[[10**40 + 1]], b_eq=[1])
    assert s.x == [Fraction(1, 10**40 + 1)]
    s = eh.lp.solve([1], [[-1]], [-1e-300])
    assert s.x == [Fraction(1, 10**300)]
    assert eh.lp.solve([1], [[-1]], [-1], constant="1/2").objective == Fraction(3, 2)


def test_infeasible_programmes_have_prices_that_prove_it():
    s = eh.lp.solve([0, 0], A_ub=[[1, 1], [-1, -2]], b_ub=[1, -3])
    assert s.status == "infeasible" and s.x is None and s.objective is None and s.y is None and s.y_ub is None
    # The sum of the rows with these prices needs more than any point has: in the minimised programme the bound is above 0.
    y = s.farkas
    assert all(price <= 0 for price in y)
    reduced = [-(y[0] - y[1]), -(y[0] - 2 * y[1])]
    assert all(cost >= 0 for cost in reduced) and y[0] - 3 * y[1] > 0
    assert s.check().startswith("valid")
    s = eh.lp.solve([1], bounds=(2, 1))
    assert (s.status, s.empty) == ("infeasible", "column x0") and s.farkas is None
    s.check()
    s = eh.lp.Programme([1], [[1]], row_lower=[2], row_upper=[1], rows=["sum"]).solve()
    assert s.empty == "row sum"


def test_unbounded_programmes_have_a_ray():
    s = eh.lp.solve([-1, 1], A_ub=[[1, -2]], b_ub=[2])
    assert s.status == "unbounded" and s.objective is None and s.y is None
    x, ray = s.x, s.ray
    assert -ray[0] + ray[1] < 0 and ray[0] - 2 * ray[1] <= 0 and min(ray) >= 0
    assert x[0] - 2 * x[1] <= 2 and min(x) >= 0
    s.check()


def test_programmes_without_rows_are_solved():
    assert eh.lp.solve([1, -1], bounds=[(2, None), (None, 5)]).x == [2, 5]
    assert eh.lp.solve([-1]).status == "unbounded"


def test_a_time_limit_gives_bounds_or_an_error():
    random = np.random.default_rng(1)
    stated = random.integers(1, 1000, 60), -random.integers(1, 1000, (60, 60)), -random.integers(1, 1000, 60)
    s = eh.lp.solve(*stated, seconds=0)
    assert s.status == "limit" and str(s).startswith("The time was up.")
    with pytest.raises(eh.LimitError, match="more seconds"):
        s.certificate()
    whole = eh.lp.solve(*stated, seconds=600)
    assert whole.status == "optimal"
    assert s.bound is None or s.bound <= whole.objective
    with eh.limits(work=10), pytest.raises(eh.LimitError):
        eh.lp.solve(*stated)


# --- bounds, rows and arrays -----------------------------------------------------------------------------------------


def test_columns_are_at_least_0_unless_bounds_say_otherwise():
    for bounds in [(0, None), None, [0, math.inf], ("0", "inf"), [(0, None)], np.array([0, np.inf]), np.array([[0, np.inf]])]:
        assert eh.lp.solve([1], bounds=bounds).x == [0]
    for bounds in [(None, None), (-math.inf, math.inf), [(None, None)], (Decimal("-Infinity"), None)]:
        assert eh.lp.solve([1], bounds=bounds).status == "unbounded"
    s = eh.lp.solve([1, -1], bounds=[(-2, "7/2"), (None, 0.1)])
    assert s.x == [-2, Fraction(1, 10)]
    assert eh.lp.solve([1, 1], bounds=((1, 2), (3, 4))).x == [1, 3]
    assert eh.lp.solve([-1, -1], [[1, 0], [1, 1]], [math.inf, 2]).objective == -2


def test_rows_may_have_two_sides():
    p = eh.lp.Programme([1, 1], [[1, 2], [1, -1]], row_lower=[2, None], row_upper=[4, "1/2"], bounds=(None, 3), maximise=True)
    assert p.shape == (2, 2) and p.rows == ("r0", "r1") and p.columns == ("x0", "x1") and p.maximise
    s = p.solve()
    # The first row and the second one meet at x = 5/3, y = 7/6.
    assert s.x == [Fraction(5, 3), Fraction(7, 6)] and s.y == [Fraction(2, 3), Fraction(1, 3)]
    low = eh.lp.Programme([1, 1], [[1, 2]], row_lower=[2], row_upper=[4]).solve()
    assert (low.x, low.y, low.y_ub) == ([0, 1], [Fraction(1, 2)], None)
    equation = eh.lp.Programme([1, 1], [[1, 2]], [3], [3]).solve()
    assert equation.objective == Fraction(3, 2)


def test_arrays_frames_and_sparse_matrices_are_the_same_programme():
    scipy_sparse = pytest.importorskip("scipy.sparse", reason="scipy is not installed")
    a = np.array([[1.5, 0, -2], [0, 0.1, 3]])
    dense = eh.lp.Programme.from_linprog([1, 2, 3], a.tolist(), [1, 2])
    labels = pd.DataFrame(a, columns=["x0", "x1", "x2"])
    twice = scipy_sparse.coo_array((np.array([1.0, 0.5, -2, 0.1, 3]), ([0, 0, 0, 1, 1], [0, 0, 2, 1, 2])), shape=(2, 3))
    for matrix in [a, labels, scipy_sparse.csr_matrix(a), scipy_sparse.csc_array(a), scipy_sparse.coo_array(a), twice, a.astype(object)]:
        other = eh.lp.Programme.from_linprog(np.array([1, 2, 3]), matrix, np.array([1, 2]))
        assert other.to_json() == dense.to_json() and other.sha256 == dense.sha256
    assert eh.lp.Programme.from_linprog([1, 2, 3], a.astype(np.float32), [1, 2]).sha256 == dense.sha256
    named = eh.lp.Programme([1, 1], pd.DataFrame([[1, 2]], index=["sum"], columns=["a", "b"]), [1])
    assert named.rows == ("sum",) and named.columns == ("a", "b")
    assert eh.lp.Programme.from_linprog([1, 1], [[1, 1]], [1], columns=["left", "right"]).columns == ("left", "right")


def test_tens_of_thousands_of_entries_are_read_and_solved():
    sparse = pytest.importorskip("scipy.sparse", reason="scipy is not installed")
    n = 20_000
    matrix = sparse.diags_array([np.full(n, 1.0), np.full(n - 1, 0.5)], offsets=[0, -1]).tocsr()
    p = eh.lp.Programme(np.ones(n), matrix, row_lower=np.ones(n))
    assert p.shape == (n, n) and repr(p) == f"<Programme: {n} rows, {n} columns, {2 * n - 1} entries>"
    judged = p.check(np.ones(n))
    assert judged.objective == n and judged.row_violation is None


# --- files and other packages ----------------------------------------------------------------------------------------


def test_programmes_survive_files_and_texts(tmp_path):
    p = eh.lp.read(MPS)
    assert p.maximise and p.columns == ("doors", "windows") and p.solve().objective == 36
    assert eh.lp.read(str(MPS)).sha256 == eh.lp.read(MPS.read_text()).sha256 == p.sha256
    assert eh.lp.read(p.to_json()).sha256 == p.sha256
    p.to_file(tmp_path / "p.json")
    assert eh.lp.read(tmp_path / "p.json").sha256 == p.sha256
    small = eh.lp.read("maximize 3 x + 2 y\nsubject to\n sum: x + 0.5 y <= 4\nend\n")
    assert small.maximise and small.rows == ("sum",) and small.solve().objective == 16
    again = pickle.loads(pickle.dumps(wyndor()))
    assert again.sha256 == wyndor().sha256 and again.solve().y_ub == [0, Fraction(3, 2), 1]
    with pytest.raises(FileNotFoundError):
        eh.lp.read(tmp_path / "nothing.mps")
    with pytest.raises(eh.InputError):
        eh.lp.read("NAME\nROWS\n X r\n")
    with pytest.raises(eh.InputError) as caught:
        eh.lp.Programme.from_dict({"rows": [], "columns": [{"name": "a", "cost": math.nan}]})
    assert caught.value.field == "columns[0].cost"


def test_certificates_equal_those_of_the_program(tmp_path, binary):
    p = eh.lp.read(MPS)
    certificate = tmp_path / "c.json"
    answer = tmp_path / "a.json"
    binary("evenhand", "lp", "solve", MPS, "--certificate", certificate, "-o", answer)
    s = p.solve()
    assert s.certificate() == certificate.read_text() and s.to_json() == answer.read_text()
    assert "valid" in binary("evenhand-check", certificate, "--require", "optimal")
    assert binary("evenhand", "lp", "solve", MPS) == f"{s}\n"
    with pytest.raises(eh.CertificateError):
        eh.check(s.certificate(), require=["infeasible"])
    damaged = json.loads(s.certificate())
    damaged["x"]["doors"] = "1"
    with pytest.raises(eh.CertificateError):
        eh.check(damaged)


def test_judgements_equal_those_of_the_program(binary):
    p = eh.lp.read(MPS)
    judged = p.check(SOL)
    assert binary("evenhand", "lp", "check", MPS, SOL) == f"{judged}\n"
    assert binary("evenhand", "--format", "json", "lp", "check", MPS, SOL) == judged.to_json()
    exact = p.check(SOL, exact=True, tolerance="1e-12")
    assert binary("evenhand", "lp", "check", MPS, SOL, "--exact", "--tolerance", "1e-12", status=1) == f"{exact}\n"
    assert not exact.accepted and exact.optimum == 36


def test_scipy_agrees():
    optimize = pytest.importorskip("scipy.optimize", reason="scipy is not installed")
    random = np.random.default_rng(7)
    seen = set()
    for _ in range(60):
        c = random.integers(-4, 6, 4)
        a_ub, b_ub = random.integers(-3, 5, (3, 4)), random.integers(-3, 9, 3)
        a_eq, b_eq = random.integers(0, 3, (1, 4)), random.integers(0, 5, 1)
        other = optimize.linprog(c, a_ub, b_ub, a_eq, b_eq)
        s = eh.lp.solve(c, a_ub, b_ub, a_eq, b_eq)
        assert s.status in {0: ["optimal"], 2: ["infeasible"], 3: ["unbounded"], 4: ["infeasible", "unbounded"]}[other.status]
        s.check()
        seen.add(s.status)
        if s.status == "optimal":
            assert float(s.objective) == pytest.approx(other.fun, abs=1e-7)
            # With upper bounds, prices with rounding errors still prove a bound.
            boxed = eh.lp.Programme.from_linprog(c, a_ub, b_ub, a_eq, b_eq, (0, 1000))
            marginals = np.concatenate([other.ineqlin.marginals, other.eqlin.marginals])
            judged = boxed.check(other.x, marginals, other.fun)
            assert judged and judged.bound is not None and abs(judged.gap) < 1e-6, judged
    assert seen == {"optimal", "infeasible", "unbounded"}


def test_programmes_are_read_from_highspy():
    highspy = pytest.importorskip("highspy", reason="highspy is not installed")
    h = highspy.Highs()
    h.setOptionValue("output_flag", False)
    h.readModel(str(MPS))
    p = eh.lp.from_highspy(h)
    assert p.sha256 == eh.lp.read(MPS).sha256 == eh.lp.from_highspy(h.getLp()).sha256 == eh.lp.from_highspy(h.getModel()).sha256
    h.run()
    judged = p.check(h.getSolution(), objective=h.getInfo().objective_function_value)
    assert judged and judged.bound == pytest.approx(36) and abs(judged.gap) < 1e-6
    h = highspy.Highs()
    h.setOptionValue("output_flag", False)
    x, y = h.addVariable(0, 10, 0.1), h.addIntegral(0, 5)
    h.addConstr(2 * x + y >= 3)
    h.addConstr(x - y == 0.5)
    p = eh.lp.from_highspy(h)
    assert p.integers == (p.columns[1],)
    assert p.check({p.columns[0]: "7/6", p.columns[1]: "2/3"}).integrality_violation == ("column", p.columns[1], Fraction(1, 3))
    for refused in (None, 7, object()):
        with pytest.raises(eh.InputError, match="highspy"):
            eh.lp.from_highspy(refused)


def test_programmes_are_read_from_cvxpy():
    cp = pytest.importorskip("cvxpy", reason="cvxpy is not installed")
    x, y = cp.Variable(2, name="x"), cp.Variable(nonneg=True, name="y")
    rows = [x[0] <= 4, 2 * x[1] <= 12, 3 * x[0] + 2 * x[1] <= 18, x >= 0, y == 1, cp.abs(x[0]) <= 3]
    p = eh.lp.from_cvxpy(cp.Problem(cp.Maximize(3 * x[0] + 5 * x[1] + 0.1 * y + 7), rows))
    s = p.solve()
    assert p.maximise and s.objective == Fraction(431, 10)
    assert (s.values["x[0]"], s.values["x[1]"], s.values["y"]) == (2, 6, 1)
    s.check()
    # The largest entry is a column of cvxpy's own.
    assert eh.lp.from_cvxpy(cp.Problem(cp.Minimize(cp.max(x)), [x >= 1, cp.sum(x) == 3])).solve().objective == Fraction(3, 2)
    integer = cp.Variable(integer=True)
    for objective in (cp.sum_squares(x), cp.norm(x, 2), cp.exp(x[0]), cp.quad_form(x, np.eye(2)), integer):
        with pytest.raises(eh.InputError) as caught:
            eh.lp.from_cvxpy(cp.Problem(cp.Minimize(objective), [x >= 1]))
        assert caught.value.field == "problem"
    with pytest.raises(eh.InputError, match="expected a cvxpy.Problem"):
        eh.lp.from_cvxpy(7)


# --- judgements ------------------------------------------------------------------------------------------------------


def test_a_slightly_wrong_answer_is_judged():
    p = wyndor()
    judged = p.check(np.array([2.000000001, 6]), [0, 1.5, 1], objective=36)
    assert judged and judged.accepted and judged.missing == 0
    assert judged.objective == 36 + Fraction(3, 10**9) and judged.objective_error == -Fraction(3, 10**9)
    assert judged.row_violation == ("row", "ub2", Fraction(3, 10**9))
    assert judged.bound_violation is None and judged.integrality_violation is None and judged.dual_violation is None
    assert judged.bound == 36 and judged.gap == -Fraction(3, 10**9) and judged.complementarity.by == Fraction(3, 10**9)
    assert judged.sentence == (
        "The answer is feasible within 3.000e-9, and its objective is 3.000e-9 above the bound that its prices prove: "
        "a tolerance of 1e-8 leaves as much."
    )
    assert repr(judged) == f"<Judgement: {judged.sentence}>" and judged.data["accepted"] is True
    strict = p.check([2.000000001, 6], tolerance="1e-9")
    assert not strict and "NOT feasible: row `ub2`" in strict.sentence and strict.bound is None


def test_answers_may_have_other_forms():
    p = wyndor(columns=["doors", "windows"])
    same = p.check([2, 6], [0, "3/2", 1])
    assert same.sentence == "The answer is feasible, exactly, and its objective is the bound that its prices prove, exactly."
    s = p.solve()
    by_name = {"doors": 2, "windows": 6}, {"ub1": 1.5, "ub2": 1}
    labelled = pd.Series({"windows": 6, "doors": 2}), np.array([0, 1.5, 1])
    for x, y in [by_name, labelled, (s, None), (s.values, s.prices)]:
        assert p.check(x, y).sentence == same.sentence
        assert eh.lp.check(p, x, y).gap == 0
    partial = p.check({"windows": 6}, exact=True)
    assert partial.missing == 1 and partial.objective == 30 and partial.optimum == 36 and partial.gap == 6 and not partial
    # Prices of the wrong sign prove nothing, because the rows have no lower side and the columns have no upper bound.
    wrong = p.check([2, 6], [0, -1.5, 0])
    assert wrong.bound is None and wrong.dual_violation == ("column", "windows", 8) and not wrong
    assert eh.lp.check(MPS, {"doors": 2, "windows": 6}, exact=True).accepted
    worse = p.check([4, 3], tolerance=0)
    assert worse.gap is None and "not checked" in worse.sentence and worse.accepted
    below = p.check([-1, 6])
    assert below.bound_violation == ("column", "doors", 1) and not below


def test_integers_are_judged_and_relaxed():
    p = eh.lp.Programme([1, 1], [[2, 2]], [3], integrality=[1, 0])
    assert p.integers == ("x0",)
    with pytest.warns(eh.EvenhandWarning, match="integers"):
        s = p.solve()
    assert s.relaxed and s.objective == Fraction(3, 2)
    with pytest.warns(eh.EvenhandWarning):
        assert eh.lp.solve([1, 1], integrality=1).status == "optimal"
    assert p.check([0.5, 1]).integrality_violation == ("column", "x0", Fraction(1, 2))


# --- bad input -------------------------------------------------------------------------------------------------------

GOOD = {"c": [1, 2], "A_ub": [[1, 1], [0, 1]], "b_ub": [4, 3], "A_eq": [[1, -1]], "b_eq": [0], "bounds": [(0, 3), (0, None)]}


def refused(field, **changed):
    with pytest.raises(eh.InputError) as caught:
        eh.lp.solve(**{**GOOD, **changed})
    assert caught.value.field == field, str(caught.value)
    assert str(caught.value).startswith(f"{field}: ")
    assert isinstance(caught.value, ValueError)
    return caught.value.what


def test_the_good_programme_is_accepted():
    assert eh.lp.solve(**GOOD).x == [0, 0]


BAD = [math.nan, Decimal("NaN"), np.float64("nan"), np.float32("nan"), True, 1j, object(), [1], "x", "", "1//2", "1/0", {}, "1e999999", b"1"]


@pytest.mark.parametrize("bad", [*BAD, math.inf, None, "inf"])
def test_a_bad_number_names_its_place(bad):
    refused("c[1]", c=[1, bad])
    refused("A_ub[1][0]", A_ub=[[1, 1], [bad, 1]])
    refused("A_eq[0][1]", A_eq=[[1, bad]])
    refused("b_eq" if isinstance(bad, list) else "b_eq[0]", b_eq=[bad])
    refused("constant", constant=bad)


@pytest.mark.parametrize("bad", BAD)
def test_a_bad_bound_names_its_place(bad):
    refused("b_ub[1]", b_ub=[4, bad])
    refused("bounds[1][0]", bounds=[(0, 3), (bad, None)])
    refused("bounds[0][1]", bounds=[(0, bad), (0, None)])
    if not isinstance(bad, (list, dict, bytes)):
        refused("bounds[1]", bounds=(0, bad))


def test_messages_say_what_is_wrong():
    assert refused("b_ub[1]", b_ub=[4, math.nan]) == "found nan: expected a finite number"
    assert refused("b_ub[0]", b_ub=[-math.inf, 3]).startswith("-inf is no upper bound")
    assert refused("bounds[0][0]", bounds=[("inf", 3), (0, 1)]).startswith("inf is no lower bound")
    assert refused("A_ub[1]", A_ub=[[1, 1], [1]]) == "found 1 values: expected one for each of 2 columns"
    assert refused("b_ub", b_ub=[1]) == "found 1 values: expected one for each of 2 rows of A_ub"
    assert refused("A_ub[0][1]", A_ub=np.array([[1, np.nan], [0, 1]])) == "found nan: expected a finite number"


def test_wrong_shapes_are_refused():
    refused("c", c=5)
    refused("c", c=[])
    refused("c", c="ab")
    refused("c", c=[[1, 2]])
    refused("c", c=np.ones((2, 1)))
    refused("c", c=itertools.count())
    refused("A_ub", A_ub=np.ones((2, 3)))
    refused("A_ub[0]", A_ub=[1, 1])
    refused("A_ub", A_ub=np.ones((2, 2), complex))
    refused("A_ub", A_ub=np.ones((2, 2), bool))
    refused("A_ub", A_ub=np.broadcast_to(np.float64(1), (10**9, 2)))
    refused("b_ub", b_ub=None)
    refused("A_eq", A_eq=None)
    refused("b_eq", b_eq=[[0]])
    refused("b_eq", b_eq=[0, 0])
    refused("bounds", bounds=[(0, 1)] * 3)
    refused("bounds", bounds=7)
    refused("bounds[1]", bounds=[(0, 1), (0, 1, 2)])
    refused("bounds[0]", bounds=[0, (0, 1)])
    refused("integrality", integrality=[1])
    refused("integrality[1]", integrality=[0, 2])
    refused("columns[1]", columns=["a", "a"])
    refused("columns", columns=["a"])
    for seconds in (-1, math.nan, "x"):
        refused("seconds", seconds=seconds)
    for given in ({"row_lower": [1]}, {"row_upper": [math.nan, 1]}, {"rows": ["a", "a"]}):
        with pytest.raises(eh.InputError, match=next(iter(given))):
            eh.lp.Programme([1, 1], [[1, 1], [1, 2]], **given)
    with pytest.raises(eh.InputError, match=r"A\[0\]\[1\]"):
        eh.lp.Programme([1, 1], [[1, "x"]], rows=["a strange name"])


def test_bad_numbers_in_sparse_matrices_name_their_place():
    sparse = pytest.importorskip("scipy.sparse", reason="scipy is not installed")
    refused("A_ub[1][0]", A_ub=sparse.csr_matrix(np.array([[1, 0], [np.nan, 1]])))
    refused("A_ub", A_ub=sparse.csr_matrix(np.ones((2, 3))))
    refused("A_ub", A_ub=sparse.csr_matrix(np.ones((2, 2), complex)))


def test_bad_answers_name_their_place(tmp_path):
    p = wyndor()

    def field(*arguments, **more):
        with pytest.raises(eh.InputError) as caught:
            p.check(*arguments, **more)
        return caught.value.field

    assert field([1, math.nan]) == "x[1]" and field([1, "x"]) == "x[1]" and field([1]) == "x" and field({"z": 1}) == "x"
    assert field({"x0": None}) == "x.x0" and field(7) == "x"
    assert field([1, 1], [0, 0]) == "y" and field([1, 1], [0, 0, math.inf]) == "y[2]" and field([1, 1], {"r": 1}) == "y"
    assert field([1, 1], objective=math.nan) == "objective" and field([1, 1], objective="x") == "objective"
    for tolerance in (1, -1, math.nan, "x"):
        assert field([1, 1], tolerance=tolerance) == "tolerance"
    infeasible = eh.lp.solve([1], [[1]], [-1])
    assert field(infeasible) == "x" and field(SOL, [0, 0, 0]) == "x"
    (tmp_path / "a.sol").write_text("nowhere 3\n")
    with pytest.raises(eh.InputError) as caught:
        p.check(tmp_path / "a.sol")
    assert caught.value.line == 1
    with pytest.raises(eh.InputError) as caught:
        eh.lp.check(7, [1])
    assert caught.value.field == "programme"


NUMBERS = st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | st.text(max_size=3) | st.fractions(max_denominator=9)
ARRAYS = st.recursive(NUMBERS, lambda inner: st.lists(inner, max_size=3), max_leaves=9)


@given(ARRAYS, ARRAYS, ARRAYS, ARRAYS)
def test_any_input_is_read_or_refused(c, matrix, side, bounds):
    try:
        eh.lp.Programme.from_linprog(c, matrix, side, bounds=bounds)
    except eh.InputError as error:
        assert str(error)
