"""Problems: reading, writing and properties."""

import copy
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

import evenhand as eh
from problems import parts

DATA = {
    "resources": ["cpu", "memory"],
    "servers": [{"name": "a", "count": 2, "capacity": {"cpu": 0.1, "memory": "1/3"}}],
    "users": [{"name": "x", "weight": Fraction(1, 2), "demand": {"cpu": Decimal("0.01"), "memory": 1}}],
}


def test_floats_mean_their_shortest_decimal():
    text = eh.Problem.from_dict(DATA).to_json()
    same = eh.Problem.from_dict(
        {
            **DATA,
            "servers": [{"name": "a", "count": 2, "capacity": {"cpu": "1/10", "memory": "1/3"}}],
            "users": [{"name": "x", "weight": "0.5", "demand": {"cpu": "1/100", "memory": "1"}}],
        }
    )
    assert same.to_json() == text


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.float16, np.longdouble])
def test_floats_of_every_width_mean_their_shortest_decimal(kind):
    tenth = kind("0.1")
    p = eh.Problem.from_arrays(np.array([[tenth]]), np.array([[tenth]]))
    q = eh.Problem.from_arrays([["1/10"]], [["1/10"]])
    assert p == q
    assert eh.Problem.from_arrays([[tenth]], [[tenth]]) == q


def test_default_names_count_from_zero():
    p = eh.Problem.from_arrays(np.ones((2, 3)), np.ones((4, 3)))
    assert p.servers == ("s0", "s1")
    assert p.resources == ("r0", "r1", "r2")
    assert p.users == ("u0", "u1", "u2", "u3")


def test_frames_name_things():
    capacity = pd.DataFrame({"cpu": [2, 12], "memory": [12, 2]}, index=["high-memory", "high-cpu"])
    demand = pd.DataFrame({"cpu": [0.2, 1], "memory": [1, 0.2]}, index=["user 1", "user 2"])
    p = eh.Problem.from_arrays(capacity, demand)
    assert (p.servers, p.users, p.resources) == (("high-memory", "high-cpu"), ("user 1", "user 2"), ("cpu", "memory"))
    assert p.solve("drfh").totals == {"user 1": 10, "user 2": 10}
    assert eh.Problem.from_arrays(capacity, demand, users=["a", "b"]).users == ("a", "b")


def test_demands_may_differ_by_class():
    demand = np.array([[[1, 2], [2, 4]], [[1, 1], [3, 1]]])
    p = eh.Problem.from_arrays([[4, 4], [8, 8]], demand)
    assert np.array_equal(p.demand, demand)
    assert p.alone() == {"u0": 4, "u1": Fraction(4) + Fraction(8, 3)}


def test_problems_keep_everything_that_arrays_state():
    p = eh.Problem.from_arrays(
        [[4.0], [2.0]], [[1.0], [0.5]], weights=[1, 2.5], tasks=[np.inf, 3], eligible=[[True, False], ["s0", "s1"]],
        counts=[3, 1], name="all",
    )  # fmt: skip
    assert p.name == "all"
    assert np.array_equal(p.capacity, [[4], [2]]) and np.array_equal(p.counts, [3, 1])
    assert np.array_equal(p.weights, [1, 2.5]) and np.array_equal(p.task_limits, [np.inf, 3])
    assert np.array_equal(p.eligible, [[True, False], [True, True]])


def test_a_large_number_of_users_is_read():
    p = eh.Problem.from_arrays(np.full((3, 2), 100.0), np.random.default_rng(0).random((20_000, 2)) + 0.1)
    assert len(p.users) == 20_000


@given(parts())
def test_a_problem_survives_every_conversion(of):
    p = eh.Problem.from_arrays(**of)
    assert eh.Problem.from_json(p.to_json()) == p
    assert eh.Problem.from_dict(p.to_dict()) == p
    assert pickle.loads(pickle.dumps(p)) == p
    assert copy.deepcopy(p) == p and hash(copy.copy(p)) == hash(p)


def test_files_are_read_and_written(tmp_path, two_servers):
    two_servers.to_file(tmp_path / "p.json")
    assert eh.Problem.from_file(tmp_path / "p.json") == two_servers
    with pytest.raises(FileNotFoundError):
        eh.Problem.from_file(tmp_path / "nothing.json")
    (tmp_path / "bad.json").write_text('{"kind": "allocation-problem",\n "resources": 7}')
    with pytest.raises(eh.InputError) as caught:
        eh.Problem.from_file(tmp_path / "bad.json")
    assert (caught.value.field, caught.value.line, caught.value.column) == ("resources", 2, 15)
    assert caught.value.file.endswith("bad.json") and "bad.json:2:15: resources" in str(caught.value)


def test_the_builder_gives_the_same_problem_as_data():
    built = (
        eh.build("p", resources=["cpu", "memory"])
        .server("a", (4, 8), count=2)
        .server("b", {"cpu": 1})
        .group("research", weight=2, guarantee={"cpu": 1})
        .group("vision", parent="research", limit=(2, 4))
        .user("x", (1, "1/2"), weight=3, tasks=2.5, servers=["a"], group="vision", gang=2)
        .user("y", demand_on={"a": (1, 1), "b": {"cpu": 2}})
        .share(of="surplus", over="lendable", zero_weight="never")
        .problem()
    )
    data = {
        "name": "p",
        "resources": ["cpu", "memory"],
        "servers": [
            {"name": "a", "count": 2, "capacity": {"cpu": 4, "memory": 8}},
            {"name": "b", "capacity": {"cpu": 1}},
        ],
        "groups": [
            {"name": "research", "weight": 2, "guarantee": {"cpu": 1}},
            {"name": "vision", "parent": "research", "limit": {"cpu": 2, "memory": 4}},
        ],
        "users": [
            {
                "name": "x", "weight": 3, "tasks": 2.5, "demand": {"cpu": 1, "memory": "1/2"}, "servers": ["a"],
                "group": "vision", "gang": 2,
            },
            {"name": "y", "demand_on": {"a": {"cpu": 1, "memory": 1}, "b": {"cpu": 2}}},
        ],
        "share": {"of": "surplus", "over": "lendable", "zero-weight": "never"},
    }  # fmt: skip
    assert built == eh.Problem.from_dict(data)
    assert built.groups == ("research", "vision")
    with pytest.raises(eh.InputError, match="expected one for each of 1 resources") as caught:
        eh.build(resources=["cpu"]).server("a", (1, 2))
    assert caught.value.field == "servers[0].capacity"


def test_notebooks_escape_names():
    p = eh.Problem.from_arrays([[1]], [[1]], users=["<script>alert(1)</script>"], name="<b>")
    for shown in (p._repr_html_(), p.solve("drfh")._repr_html_(), p.solve("drfh").certify()._repr_html_()):
        assert "<script>" not in shown and "<b><b></b>" not in shown and "<table" in shown
