"""Solving, certifying, checking and judging."""

import json
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import evenhand as eh
from problems import problems


def test_tasks_are_fractions_without_zeros(two_servers):
    a = two_servers.solve("drfh")
    assert a.tasks == {"user 1": {"high-memory": Fraction(10)}, "user 2": {"high-cpu": Fraction(10)}}
    assert all(type(x) is Fraction for on in a.tasks.values() for x in on.values())
    assert np.array_equal(a.to_numpy(), [[10, 0], [0, 10]])
    frame = a.to_pandas()
    assert frame.loc["user 2", "high-cpu"] == 10 and frame.loc["user 2", "high-memory"] == 0
    assert a.dominant_shares == {"user 1": Fraction(5, 7), "user 2": Fraction(5, 7)}
    assert a.utilisation == {"cpu": Fraction(6, 7), "memory": Fraction(6, 7)}
    assert a.exact and a.mechanism == "drfh" and a.sharing == "rdm"


def test_verdicts_have_exact_margins(two_servers):
    c = two_servers.solve("drfh").certify()
    assert list(c.verdicts) == ["feasible", "work-conserving", "pareto-optimal", "envy-free", "sharing-incentive", "max-min:drfh"]
    envy = c.verdicts["envy-free"]
    assert envy.holds is True and envy.margin == Fraction(2, 3) and envy.in_tasks == 8 and envy.outcome == "holds"
    assert envy.least_tolerance == 0 and bool(envy)
    assert c.verdicts["max-min"] is c.verdicts["max-min:drfh"]
    with pytest.raises(KeyError):
        c.verdicts["envy"]
    assert c.tolerance == 0 and c.repair == 0 and not c.infeasible and c.unchecked is None


def test_check_accepts_only_proven_claims(two_servers):
    c = two_servers.solve("drfh").certify()
    assert c.check() is None
    c.check(require=["envy-free", "max-min:drfh"])
    with pytest.raises(eh.CertificateError, match="njc"):
        c.check(require=["njc"])
    unequal = two_servers.allocation([[1, 0], [0, 10]]).certify(["max-min:drfh", "feasible"])
    assert unequal.verdicts["max-min:drfh"].holds is False
    unequal.check()
    with pytest.raises(eh.CertificateError):
        unequal.check(require=["max-min:drfh"])


def test_a_damaged_certificate_is_refused(two_servers):
    c = two_servers.solve("drfh").certify()
    data = c.data
    data["claims"][3]["margin"] = "3/4"
    with pytest.raises(eh.CertificateError):
        eh.check(data)
    with pytest.raises(eh.CertificateError, match="problem"):
        eh.check(c, problem=eh.Problem.from_arrays([[1]], [[1]]))
    assert eh.check(c, problem=two_servers, allocation=c.allocation).startswith("valid: 6 claims")


def test_results_survive_files(tmp_path, two_servers):
    a = two_servers.solve("drfh")
    c = a.certify()
    a.to_file(tmp_path / "a.json")
    c.to_file(tmp_path / "c.json")
    assert two_servers.allocation_from_file(tmp_path / "a.json").tasks == a.tasks
    assert eh.check(tmp_path / "c.json", require="envy-free").startswith("valid")


def test_judge_accepts_an_array(two_servers):
    x = np.array([[10, 0], [0, 10.000000001]])
    c = two_servers.judge(x)
    assert c.verdicts["feasible"].outcome == "within" and 0 < c.repair < 1e-6
    assert c.verdicts["envy-free"].holds
    c.check(require=["feasible"])
    strict = two_servers.judge(x, tolerance=0)
    assert strict.infeasible and strict.verdicts["feasible"].holds is False
    assert strict.verdicts["envy-free"].holds is None and strict.verdicts["envy-free"].outcome == "not-checked"
    # The least tolerance is the tolerance that the axiom needs, also for the other axioms.
    least = strict.verdicts["feasible"].least_tolerance
    assert least == -strict.verdicts["feasible"].margin > 0
    assert strict.verdicts["envy-free"].least_tolerance == least
    assert two_servers.judge(x, least).verdicts["envy-free"].holds


def test_the_kernel_accepts_only_a_granted_tolerance(two_servers):
    c = two_servers.judge([[9.9, 0], [0, 10]], tolerance=0.1)
    c.check(require=["envy-free"])
    with pytest.raises(eh.CertificateError, match="tolerance"):
        c.check(max_tolerance=1e-6)
    with pytest.raises(eh.CertificateError, match="tolerance"):
        eh.check(c.to_json())


def test_allocations_of_exact_numbers_are_exact(two_servers):
    assert two_servers.allocation([[Fraction(1, 3), 0], [0, 2]]).exact
    assert two_servers.allocation({"user 1": {"high-memory": "1/3"}}).exact
    assert not two_servers.allocation([[0.5, 0], [0, 2]]).exact
    assert not two_servers.allocation(np.ones((2, 2))).exact
    assert two_servers.allocation(np.ones((2, 2), int)).exact
    one = eh.Problem.from_arrays([[3]], [[1], [1]])
    assert one.allocation([1, 2]).tasks == {"u0": {"s0": 1}, "u1": {"s0": 2}}


def test_solve_accepts_floating_point_and_settings():
    p = eh.Problem.from_arrays([[1.0, 1.0]], [[0.5, 0.1], [0.2, 0.4]])
    a = p.solve("alpha", alpha="1/2")
    assert a.certify().verdicts["proportional:1/2"].holds
    assert not p.solve("proportional", exact=False).exact
    filled = p.solve("fill", score="tsf", server="best-fit", seed=3)
    assert all(x.denominator == 1 for on in filled.tasks.values() for x in on.values())
    listed = eh.Problem.from_arrays([[7, 7], [5, 5]], [[1, 3], [2, 1]])
    assert listed.solve("ps-dsf", order=["s1", "s0"]).certify().verdicts["ps-dsf"].holds


def test_groups_share_by_the_tree():
    p = (
        eh.build(resources=["gpu"])
        .server("pool", (8,))
        .group("a", weight=3)
        .group("b", weight=1)
        .user("x", (1,), group="a")
        .user("y", (1,), group="b")
        .problem()
    )
    a = p.solve("tree")
    assert a.totals == {"x": 6, "y": 2}
    assert a.certify().verdicts["tree"].holds
    why = a.explain(group="a").data
    assert why["kind"] == "group-explanation" and why["group"]["level"] == "1/4" and why["resources"]["gpu"]["held"] == "6"
    entitled = p.solve("tree", rule="kai")
    assert isinstance(entitled, eh.Entitlements) and entitled.data["kind"] == "entitlements"
    with pytest.raises(eh.NotApplicable, match="groups"):
        p.solve("drfh")


def test_explanations_name_the_bottleneck(two_servers):
    e = two_servers.solve("drfh").explain("user 1")
    assert e.data["kind"] == "explanation" and e.data["verdict"] == "blocked"
    assert "memory" in str(e) and "<" in e._repr_html_()


@given(problems(), st.sampled_from(["drfh", "tsf", "cdrf", "asset", "utilitarian", "per-server-drf", "njc", "proportional"]))
def test_solved_allocations_are_certified_and_checked(p, mechanism):
    try:
        a = p.solve(mechanism)
    except eh.NotApplicable:
        assume(False)
    c = a.certify()
    assert c.verdicts["feasible"].holds
    c.check(require=["feasible"])
    again = pickle.loads(pickle.dumps(a))
    assert again.tasks == a.tasks and again.certify().to_json() == c.to_json()


AXIOMS = ["feasible", "work-conserving", "pareto-optimal", "envy-free", "sharing-incentive", "max-min:drfh", "max-min:tsf",
          "proportional:1", "proportional:2", "njc", "ps-dsf", "bottleneck-fair"]  # fmt: skip


@given(problems(), st.lists(st.integers(0, 40), min_size=12, max_size=12))
def test_no_smaller_tolerance_suffices_than_the_least(p, numerators):
    """An axiom holds at its least tolerance, but not a little below it."""
    shape = len(p.users), len(p.servers)
    x = [[Fraction(numerators[n * shape[1] + i], 8) for i in range(shape[1])] for n in range(shape[0])]
    a = p.allocation(x)
    c = a.certify(AXIOMS, 0)
    for name, verdict in c.verdicts.items():
        if verdict.outcome == "not-applicable":
            assert verdict.least_tolerance is None
            continue
        least = verdict.least_tolerance
        if least is None:
            # No tolerance below 1 suffices.
            assert a.certify([name], Fraction(999_999, 1_000_000)).verdicts[name].holds is not True
            continue
        at = a.certify([name], least).verdicts[name]
        assert at.holds is True, (name, least)
        if least > 0:
            below = a.certify([name], least * (1 - Fraction(1, 2**30))).verdicts.get(name)
            assert below.holds is not True, (name, least)
            assert verdict.holds is not True


def test_results_are_documents(two_servers):
    a = two_servers.solve("drfh")
    assert json.loads(a.to_json())["kind"] == "allocation" == a.data["kind"]
    c = a.certify()
    assert c.data["kind"] == "certificate"
    assert "envy-free" in str(c) and "envy-free" in c.to_markdown() and "envy-free" in c.to_csv()
    assert "longtable" in c.to_latex() or "tabular" in c.to_latex()
