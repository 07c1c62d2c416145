"""Comparisons, audits, accuracy, reservations, simulations, and rules in Python."""

import json
from fractions import Fraction

import numpy as np
import pytest

import evenhand as eh
from conftest import EXAMPLES


@eh.mechanism("serial-dictator")
def serial_dictator(problem):
    """Gives each user as many tasks as possible, in the order of the file."""
    left, tasks = problem.capacity * problem.counts[:, None], np.zeros((len(problem.users), len(problem.servers)))
    for n in range(tasks.shape[0]):
        limit = problem.task_limits[n]
        for i in np.flatnonzero(problem.eligible[n]):
            demand = problem.demand[n] if problem.demand.ndim == 2 else problem.demand[n, i]
            needs = demand > 0
            x = min(limit, (left[i][needs] / demand[needs]).min())
            tasks[n, i], limit = x, limit - x
            left[i] = np.maximum(left[i] - x * demand, 0)
    return tasks


@eh.mechanism("parts", axiom="sharing-incentive")
def parts(problem):
    """Gives each user its fraction of every server."""
    active = [user for user in problem.to_dict()["users"] if problem.alone()[user["name"]]]
    total = sum(Fraction(user.get("weight", 1)) for user in active)
    rows = {}
    for user in active:
        part = Fraction(user.get("weight", 1)) / total
        limit = Fraction(user.pop("tasks", 10**9))
        alone = eh.Problem.from_dict({**problem.to_dict(), "users": [user]}).solve("utilitarian").tasks[user["name"]]
        scale = min(1, limit / (part * sum(alone.values()))) if alone else 0
        rows[user["name"]] = {server: part * scale * x for server, x in alone.items()}
    return rows


def test_a_comparison_has_columns_in_the_requested_order(two_servers):
    c = eh.compare(two_servers, ["tsf", "serial-dictator", "drfh", parts], allocations={"none": np.zeros((2, 2))})
    assert list(c) == ["tsf", "serial-dictator", "drfh", "parts", "none"]
    assert c["drfh"].verdicts["max-min:drfh"].holds and c["tsf"].verdicts["max-min:drfh"].holds is not None
    assert c["drfh"].allocation.totals == {"user 1": 10, "user 2": 10}
    assert c["serial-dictator"].verdicts["envy-free"].holds is False
    assert c["parts"].verdicts["sharing-incentive"].holds and c["parts"].verdicts["pareto-optimal"].holds is False
    assert c["none"].verdicts["work-conserving"].holds is False
    assert c["parts"].price_of_fairness > 1
    c["drfh"].certificate.check(require=["max-min:drfh"])
    assert [column["name"] for column in c.data["mechanisms"]] == list(c)
    assert list(c.to_pandas().columns) == list(c)
    assert c.verdicts_to_pandas().loc["envy-free", "serial-dictator"] == "violated"
    assert "<table" in c._repr_html_() and c.to_html().startswith("<!DOCTYPE html>")


def test_inapplicable_mechanisms_have_columns_with_the_reason(two_servers):
    def broken(problem):
        raise eh.NotApplicable("it is broken")

    def wrong(problem):
        return [[1, 2, 3]]

    c = eh.compare(two_servers, ["drf", "drfh", eh.mechanism("broken")(broken), eh.mechanism("wrong")(wrong)])
    assert "not applicable" in c["drf"].failed and c["broken"].failed == "it is broken" and "expected one" in c["wrong"].failed
    assert list(c.to_pandas().columns) == ["drfh"]
    assert "broken: failed: it is broken" in str(c)
    with pytest.raises(eh.EvenhandError):
        c["drf"].allocation

    def raising(problem):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        eh.compare(two_servers, [raising])


def test_all_mechanisms_are_compared_by_default(two_servers):
    steps = []
    c = eh.compare(two_servers, alpha=2, progress=lambda *step: steps.append(step))
    assert list(c) == list(eh.mechanisms())
    assert [step for step in steps if step[1] is not None][-1][:2] == (len(c), len(c))
    assert "proportional:2" in c["alpha"].verdicts


def test_a_rule_is_solved_certified_and_named(two_servers):
    a = two_servers.solve("parts")
    assert a.mechanism == "parts" and a.exact
    assert "sharing-incentive" in a.certify().verdicts
    assert not two_servers.solve(serial_dictator).exact
    with pytest.raises(eh.InputError, match="mechanism of the library"):
        eh.mechanism("drfh")(parts)
    with pytest.raises(eh.InputError) as caught:
        two_servers.solve(lambda problem: None)
    assert "returned None" in str(caught.value)


def test_mechanisms_and_rules_are_audited():
    ours = eh.audit("utilitarian", instances=60, properties=["resource-monotone"])
    envy = ours.violated["envy-free"]
    assert envy.example.certificate.verdicts["envy-free"].holds is False
    assert envy.example.problem.solve("utilitarian").tasks == envy.example.allocation.tasks
    envy.example.certificate.check()

    own = eh.audit(serial_dictator, instances=60, seed=1)
    assert own.data["mechanism"] == "serial-dictator" and "serial-dictator on 60" in str(own)
    example = own.violated["envy-free"].example
    assert len(example.problem.users) == 2
    example.certificate.check()
    again = example.problem.solve(serial_dictator).certify(["envy-free"], 1e-9)
    assert again.verdicts["envy-free"].holds is False
    assert own.axioms["feasible"].violated == 0
    assert own.to_pandas().loc["envy-free", "violated"] == own.axioms["envy-free"].violated

    fair = eh.audit(parts, instances=40, axioms=["sharing-incentive", "envy-free"])
    assert fair.axioms["sharing-incentive"].decided == 40 and not fair.violated


def test_properties_of_rules_are_refuted():
    @eh.mechanism("proportional-to-demand")
    def boastful(problem):
        """Gives more to users that state a larger demand."""
        needs = problem.demand.sum(axis=-1).reshape(len(problem.users), -1).sum(axis=1)
        rows = {}
        for n, (user, alone) in enumerate(problem.alone().items()):
            solo = problem.to_dict()
            solo["users"] = [solo["users"][n]]
            part = Fraction(int(needs[n] * 4), int(needs.sum() * 4))
            rows[user] = {s: x * part for s, x in eh.Problem.from_dict(solo).solve("utilitarian").tasks[user].items()}
        return rows

    found = eh.audit(boastful, instances=30, axioms=["feasible"], properties=["strategy-proof-by-demand"])
    lie = found.properties["strategy-proof-by-demand"].example
    assert lie.after > lie.before and "states a demand" in lie.change and lie.user in lie.problem.users


def test_exceptions_of_a_rule_end_an_audit():
    calls = []

    def unlucky(problem):
        calls.append(problem)
        if len(calls) > 5:
            raise KeyError("unlucky")
        raise eh.NotApplicable("not yet")

    with pytest.raises(KeyError, match="unlucky"):
        eh.audit(unlucky, instances=500)
    assert len(calls) < 100
    never = eh.audit(lambda problem: (_ for _ in ()).throw(eh.NotApplicable("never")), instances=70)
    assert never.data["searched"]["not_applicable"] == 70


def test_accuracy_of_a_callable_is_measured():
    problems = [eh.Problem.from_arrays([[c, 4]], [[1, 2], [2, 1]], name=f"c{c}") for c in (2, 4, 8)]
    exact = eh.accuracy(lambda p: p.solve("proportional").to_numpy(), problems)
    assert exact.error < 1e-12 and exact.excess < 1e-12 and len(exact.rows) == 3
    off = eh.accuracy(lambda p: 1.01 * p.solve("drfh").to_numpy(), problems, "drfh")
    assert 0.001 < off.error < 0.01 and abs(off.excess - 0.01) < 1e-12
    assert list(off.to_pandas().index) == ["c2", "c4", "c8"] and "<table" in off._repr_html_()


def test_accuracy_is_measured_if_several_answers_exist():
    users = [{"name": name, "demand": {"r": 1}} for name in "ab"]
    servers = [{"name": "s", "capacity": {"r": 1}}]
    p = eh.Problem.from_dict({"kind": "allocation-problem", "resources": ["r"], "servers": servers, "users": users})
    optima = [[[1], [0]], [[0], [1]], [[0.5], [0.5]]]
    found = [eh.accuracy(lambda _, x=x: x, p, "utilitarian") for x in optima]
    assert [of.error for of in found] == [0, 0, 0] and found[0].measure == "objective"
    assert eh.accuracy(lambda _: [[0.25], [0.5]], p, "utilitarian").error == 0.25
    users = [
        {"name": "1", "weight": "1/2", "demand": {"r": 1, "q": 1}},
        {"name": "2", "weight": "3/10", "demand": {"q": 1}},
        {"name": "3", "weight": "1/5", "demand": {"r": 1}},
    ]
    servers = [{"name": "s", "capacity": {"r": 1, "q": 1}}]
    q = eh.Problem.from_dict({"kind": "allocation-problem", "resources": ["r", "q"], "servers": servers, "users": users})
    for z, missed in [("1/2", 0), ("3/5", 0), ("7/10", 0), ("3/4", 0.05)]:
        z = Fraction(z)
        found = eh.accuracy(lambda _, z=z: [[z], [1 - z], [1 - z]], q, "njc")
        assert (found.error, found.measure) == (missed, "axiom"), z
    assert eh.accuracy(lambda _: [[1], [1], [1]], q, "njc").error == float("inf")
    users = [
        {"name": "a", "demand": {"r": 1}, "criterion": {"s": 1, "t": 2}},
        {"name": "b", "demand": {"r": 1}, "criterion": {"s": 1, "t": 1}},
    ]
    servers = [{"name": name, "capacity": {"r": 1}} for name in "st"]
    g = eh.Problem.from_dict({"kind": "allocation-problem", "resources": ["r"], "servers": servers, "users": users})
    found = eh.accuracy(lambda p: p.solve("generic").to_numpy(), g, "generic")
    assert found.error < 1e-15 and found.measure == "criterion"


def test_reservations_are_read_and_certified():
    r = eh.Reservation.from_file(EXAMPLES / "vm-types.json")
    found = r.ratio()
    found.check(require=["exact"])
    assert eh.ratio(EXAMPLES / "vm-types.json").data == found.data
    worst = r.worst_load()
    assert "449/515" in worst.to_json()
    worst.check()
    with pytest.raises(eh.CertificateError):
        worst.check(require=["ratio:99/100"])
    swept = r.sweep([0, "1/2", 1.5])
    assert len(swept.data["points"]) == 3 and swept.to_csv().count("\n") >= 4
    falling = eh.Reservation.from_file(EXAMPLES / "falling-reward.json").monotone()
    assert falling.holds is False and len(falling.certificates) == 2
    for certificate in falling.certificates:
        assert eh.check(certificate).startswith("valid")
    with pytest.raises(eh.InputError) as caught:
        eh.Reservation.from_dict({"resources": ["cpu"], "servers": [{"name": "s", "capacity": {"cpu": 1}}], "jobs": [{"name": "a", "demand": {"cpu": -1}}]})
    assert caught.value.field == "jobs[0].demand.cpu"


SCENARIO = {
    "kind": "scenario",
    "name": "two users",
    "resources": ["cpu"],
    "servers": [{"name": "s", "count": 2, "capacity": {"cpu": 2}}],
    "users": [
        {"name": "a", "demand": {"cpu": 1}, "poisson": {"rate": 1, "duration": {"exponential": 1}}},
        {"name": "b", "demand": {"cpu": 2}, "jobs": [{"at": 1, "tasks": 9, "duration": 2}]},
    ],
    "policy": {"score": "drf", "server": "first-fit"},
    "horizon": 50,
}


def test_simulations_run_and_report_progress(tmp_path):
    steps = []
    found = eh.simulate(SCENARIO, seed=3, replications=2, progress=lambda *step: steps.append(step))
    assert found.data["kind"] == "simulation" and list(found.tables) == [3, 4]
    assert found.data == eh.simulate(SCENARIO, seeds=[3, 4]).data
    path = tmp_path / "scenario.json"
    path.write_text(json.dumps(SCENARIO))
    assert eh.simulate(path, seeds=[3, 4]).to_json() == found.to_json()
    series = found.to_pandas("series", seed=4)
    assert len(series) > 10 and (series.iloc[:, 0].diff().dropna() > 0).all()
    assert len(found.to_pandas("jobs")) > 5
    with pytest.raises(eh.InputError):
        found.to_pandas("nothing")
    with pytest.raises(eh.InputError) as caught:
        eh.simulate({**SCENARIO, "policy": {"score": "nothing"}})
    assert caught.value.field == "policy.score"
    with pytest.raises(eh.InputError):
        eh.simulate(SCENARIO, seeds=[])
