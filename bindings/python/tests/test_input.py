"""Bad input raises an exception that names the place, and never ends the process."""

import itertools
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenhand as eh

GOOD = {"capacity": [[4, 4], [2, 8]], "demand": [[1, 2], [2, 1], [1, 1]]}


def refused(field, **changed):
    with pytest.raises(eh.InputError) as caught:
        eh.Problem.from_arrays(**{**GOOD, **changed})
    assert caught.value.field == field, str(caught.value)
    assert str(caught.value).startswith(f"{field}: ")
    assert isinstance(caught.value, ValueError)


def test_the_good_problem_is_accepted():
    assert len(eh.Problem.from_arrays(**GOOD).users) == 3


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, -1, -0.5, Fraction(-1, 2), Decimal("NaN"), np.float64("nan"), np.float32("inf"),
                                 None, True, 1j, object(), [1], "x", "", "1//2", {}, np.bool_(True), "-1"])  # fmt: skip
def test_a_bad_number_names_its_place(bad):
    refused("capacity[1][0]", capacity=[[4, 4], [bad, 8]])
    refused("demand[2][1]", demand=[[1, 2], [2, 1], [1, bad]])
    refused("weights[1]", weights=[1, bad, 1])
    if bad is not None and bad != math.inf:
        refused("tasks[0]", tasks=[bad, 1, 1])
    refused("demand[1][0][1]", demand=[[[1, 2], [1, 2]], [[1, bad], [1, 2]], [[1, 1], [1, 1]]])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, -1.0])
@pytest.mark.parametrize("kind", [np.float64, np.float32, object])
def test_bad_numbers_in_arrays_name_their_place(bad, kind):
    capacity = np.array(GOOD["capacity"], kind)
    capacity[0, 1] = bad
    refused("capacity[0][1]", capacity=capacity)


def test_wrong_shapes_are_refused():
    refused("capacity[1]", capacity=[[1, 2], [3]])
    refused("demand[0]", demand=np.ones((3, 3)))
    refused("demand", demand=np.ones(3))
    refused("demand", demand=np.ones((1, 1, 1, 1)))
    refused("demand[0]", demand=np.ones((3, 3, 2)))
    refused("capacity", capacity=np.ones((0, 2)))
    refused("capacity", capacity=[])
    refused("capacity", capacity=[[], []])
    refused("capacity[0]", capacity=[1, 2])
    refused("capacity", capacity=5)
    refused("capacity", capacity="ab")
    refused("capacity", capacity=None)
    refused("demand", demand=np.array([["a", "b"]] * 3))
    refused("demand", demand=np.array([["2020-01-01", "2020-01-02"]] * 3, dtype="datetime64[D]"))
    refused("demand", demand=np.ones((3, 2), bool))
    refused("demand", demand=np.ones((3, 2), complex))
    refused("weights", weights=[1, 1])
    refused("tasks", tasks=np.ones((3, 1, 1))[:2])
    refused("counts", counts=[1])
    refused("eligible", eligible=[[True, True]])
    refused("eligible[1]", eligible=[[True, True], [True], [True, True]])
    refused("eligible[0][1]", eligible=[[True, 7], [True, True], [True, True]])
    refused("eligible[2]", eligible=[["s0"], ["s1"], ["s7"]])
    refused("users", users=["a"])
    refused("users[1]", users=["a", "a", "b"])
    refused("users[0]", users=[1, 2, 3])
    refused("servers[1]", servers=["x", "x"])
    refused("resources[1]", resources=["cpu", "cpu"])
    refused("capacity", capacity=pd.DataFrame({"a": ["x", "y"], "b": ["z", "w"]}).to_numpy().astype(str))


class Unspeakable:
    def __repr__(self):
        raise RuntimeError


def test_values_that_are_not_arrays_are_refused():
    refused("capacity", capacity=itertools.count())
    refused("capacity", capacity=(row for row in GOOD["capacity"]))
    refused("capacity", capacity={"a": [1, 2]})
    refused("capacity", capacity={1, 2})
    refused("capacity[0]", capacity=[itertools.count()])
    refused("capacity[0][1]", capacity=[[1, Unspeakable()], [1, 2]])
    refused("demand", demand=np.array(3.0))
    refused("capacity", capacity=np.float32(3))
    refused("weights", weights=np.array(1.0))
    refused("demand[0][0]", demand=np.ma.array([[1.0, 2], [1, 2], [1, 2]], mask=[[1, 0], [0, 0], [0, 0]]))
    refused("eligible", eligible=7)
    refused("eligible[1]", eligible=[["s0"], 7, ["s1"]])
    refused("weights", weights=itertools.repeat(1))


def test_errors_of_the_library_name_the_arrays():
    refused("demand[1]", demand=[[1, 2], [0, 0], [1, 1]])
    refused("weights[0]", weights=[0, 1, 1])
    refused("counts[1]", counts=[1, 0])
    refused("counts[1]", counts=[1, 1.5])
    refused("counts[0]", counts=[10**13, 1])
    refused("capacity[0][1]", capacity=[[1, "1e999999"], [1, 1]])
    refused("capacity[0][0]", capacity=[[10**500, 1], [1, 1]])


def test_a_number_of_many_digits_is_refused_quickly():
    refused("capacity[0][0]", capacity=[[1 << 10_000_000, 1], [1, 1]])
    refused("capacity[0][0]", capacity=[[Fraction(1, 1 << 10_000_000), 1], [1, 1]])


def test_a_huge_array_is_refused_before_it_is_read():
    refused("demand", demand=np.broadcast_to(np.float64(1), (10**9, 2)))
    with pytest.raises(eh.InputError) as caught:
        eh.Problem.from_arrays([[1]], [[1]]).judge(np.broadcast_to(0.0, (10**6, 10**6)))
    assert caught.value.field == "X"


@pytest.mark.parametrize(
    "data, field",
    [
        ({"resources": ["cpu"], "servers": [{"name": "a", "capacity": {"cpu": math.nan}}], "users": []}, "servers[0].capacity.cpu"),
        ({"resources": ["cpu"], "servers": [{"name": "a", "capacity": {"gpu": 1}}], "users": []}, "servers[0].capacity.gpu"),
        ({"resources": ["cpu"], "servers": [{"name": "a", "capacity": {"cpu": 1}}], "users": [{"name": "x", "demand": {"cpu": object()}}]}, "users[0].demand.cpu"),
        ({"resources": ["cpu"], "servers": [{"name": "a", "capacity": {"cpu": 1}}], "users": [{"name": "x", "demand": {"cpu": 1}, "servers": ["q"]}]}, "users[0].servers[0]"),
        ({"resources": ["cpu"], "servers": [], "users": [], "user": []}, "user"),
        ({"resources": ["cpu", "cpu"], "servers": [{"name": "a"}], "users": []}, "resources[1]"),
        ({"resources": "cpu", "servers": [], "users": []}, "resources"),
    ],
)  # fmt: skip
def test_bad_data_names_the_field(data, field):
    with pytest.raises(eh.InputError) as caught:
        eh.Problem.from_dict(data)
    assert caught.value.field == field, str(caught.value)


def test_unusable_data_is_refused():
    for bad in (None, 7, "text", [1]):
        with pytest.raises(eh.InputError):
            eh.Problem.from_dict(bad)
    with pytest.raises(eh.InputError):
        eh.Problem.from_dict({1: 2})
    deep = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(eh.InputError, match="too deep"):
        eh.Problem.from_dict({"resources": deep})
    loop = {}
    loop["loop"] = loop
    with pytest.raises(eh.InputError, match="too deep"):
        eh.Problem.from_dict(loop)


def test_unknown_names_are_refused(two_servers):
    def field(call):
        with pytest.raises(eh.InputError) as caught:
            call()
        return caught.value.field, str(caught.value)

    a = two_servers.solve("drfh")
    name, words = field(lambda: two_servers.solve("drfhh"))
    assert name == "mechanism" and "did you mean `drfh`?" in words
    assert field(lambda: two_servers.solve("drfh", alpha=2))[0] == "alpha"
    assert field(lambda: two_servers.solve("alpha", alpha="x"))[0] == "alpha"
    assert field(lambda: two_servers.solve("alpha"))[0] == "alpha"
    assert field(lambda: two_servers.solve("alpha", alpha=math.nan))[0] == "alpha"
    assert field(lambda: two_servers.solve(7))[0] == "mechanism"
    assert field(lambda: two_servers.solve("fill", seed=-1))[0] == "seed"
    assert field(lambda: two_servers.solve("fill", seed="x"))[0] == "seed"
    name, words = field(lambda: a.certify(["envy-fre"]))
    assert name == "axioms" and "did you mean `envy-free`?" in words
    assert field(lambda: a.certify("envy-free"))[0] == "axioms"
    assert field(lambda: a.certify(["max-min:drhf"]))[0] == "axioms"
    assert field(lambda: a.certify(tolerance=1))[0] == "tolerance"
    assert field(lambda: a.certify(tolerance=-0.1))[0] == "tolerance"
    assert field(lambda: a.certify(tolerance=math.nan))[0] == "tolerance"
    assert field(lambda: a.certify(seconds=-1))[0] == "seconds"
    assert field(lambda: a.explain("nobody"))[0] == "user"
    assert field(lambda: a.explain(group="nobody"))[0] == "group"
    assert field(lambda: eh.compare(two_servers, ["drfh", "nothing"]))[0] == "mechanism"
    assert field(lambda: eh.audit("nothing"))[0] == "mechanism"
    assert field(lambda: eh.audit("drfh", users=7))[0] == "users"
    assert field(lambda: eh.audit("drfh", properties=["good"]))[0] == "properties"
    assert field(lambda: eh.check("{}"))[0] == "certificate"


def test_bad_allocations_are_refused(two_servers):
    def field(tasks):
        with pytest.raises(eh.InputError) as caught:
            two_servers.judge(tasks)
        return caught.value.field

    assert field(np.array([[1, np.nan], [0, 0]])) == "X[0][1]"
    assert field(np.array([[1, np.inf], [0, 0]], np.float32)) == "X[0][1]"
    assert field([[1, 2], [None, 0]]) == "X[1][0]"
    assert field([[1, 2]]) == "X"
    assert field([[1, 2], [1]]) == "X[1]"
    assert field(np.ones((2, 2, 2))) == "X[0][0]"
    assert field(np.array(1.0)) == "X"
    assert field(itertools.count()) == "X"
    assert field(np.array([["a", "b"], ["c", "d"]])) == "X"
    assert field({"nobody": {"high-cpu": 1}}) == 'tasks.nobody'
    assert field({"user 1": {"nowhere": 1}}) == 'tasks["user 1"].nowhere'
    assert field({"user 1": {"high-cpu": math.nan}}) == "tasks.user 1.high-cpu"
    assert field({"user 1": 7}) == "tasks.user 1"
    assert field(pd.DataFrame([[1, 2], [3, 4]], index=["user 1", "user 3"], columns=["high-memory", "high-cpu"])) == "X.index"


def test_an_allocation_of_another_problem_is_refused(two_servers):
    text = two_servers.solve("drfh").to_json()
    other = eh.Problem.from_dict({**two_servers.to_dict(), "name": "another"})
    other = eh.Problem.from_dict({**other.to_dict(), "users": [{**u, "weight": n + 1} for n, u in enumerate(other.to_dict()["users"])]})
    with pytest.raises(eh.InputError) as caught:
        other.allocation_from_json(text)
    assert caught.value.field == "problem_sha256"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.fractions() | st.binary(max_size=2),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["name", "resources", "servers", "users", "demand", "capacity", "cpu", "kind"]), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(JSON)
def test_any_data_is_read_or_refused(data):
    try:
        eh.Problem.from_dict(data)
    except eh.InputError as error:
        assert str(error)


@given(JSON, JSON)
def test_any_arrays_are_read_or_refused(capacity, demand):
    try:
        eh.Problem.from_arrays(capacity, demand)
    except eh.InputError as error:
        assert str(error)


@given(JSON)
def test_any_allocation_is_judged_or_refused(tasks):
    p = eh.Problem.from_arrays([[4, 4]], [[1, 2], [2, 1]])
    try:
        p.judge(tasks, axioms=["feasible"])
    except eh.InputError as error:
        assert str(error)
