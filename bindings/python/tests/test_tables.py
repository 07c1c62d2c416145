"""CSV, Parquet and fairpyx."""

import sys
from fractions import Fraction

import pytest
from hypothesis import given

import evenhand as eh
from conftest import EXAMPLES
from problems import problems


@given(problems())
def test_problems_survive_tables(tmp_path_factory, p):
    folder = tmp_path_factory.mktemp("tables")
    p.to_csv(folder / "p")
    assert eh.Problem.from_file(folder / "p") == p
    p.to_parquet(folder / "p.parquet")
    assert eh.Problem.from_file(folder / "p.parquet") == p


@pytest.mark.parametrize("name", ["two-servers", "queues", "queues-promised", "google-cluster"])
def test_examples_survive_tables(tmp_path, name):
    p = eh.Problem.from_file(EXAMPLES / f"{name}.json")
    p.to_csv(tmp_path / "p")
    assert eh.Problem.from_file(tmp_path / "p") == p
    p.to_parquet(tmp_path / "p.parquet")
    assert eh.Problem.from_file(tmp_path / "p.parquet") == p


def test_tables_written_by_hand_are_read(tmp_path):
    (tmp_path / "servers.csv").write_text("name,capacity.cpu,capacity.memory\na,4,8\nb,1/3,0\n")
    (tmp_path / "users.csv").write_text("name,weight,servers,demand.cpu,demand.memory\nx,0.5,\"[\"\"a\"\"]\",1,2\ny,,,2,1\n")
    p = eh.Problem.from_file(tmp_path)
    assert p.resources == ("cpu", "memory") and p.alone()["y"] == Fraction(2) + 0
    (tmp_path / "users.csv").write_text("name,demand.cpu\nx,nan\n")
    with pytest.raises(eh.InputError) as caught:
        eh.Problem.from_file(tmp_path)
    assert caught.value.field == "users[0].demand.cpu"


def test_allocations_survive_tables(tmp_path, two_servers):
    for a in (two_servers.solve("drfh"), two_servers.solve("proportional", exact=False)):
        a.to_csv(tmp_path / "a.csv")
        a.to_parquet(tmp_path / "a.parquet")
        for name in ("a.csv", "a.parquet"):
            read = two_servers.allocation_from_file(tmp_path / name)
            assert read.exact == a.exact
            assert read.to_numpy().tolist() == a.to_numpy().tolist()
            if a.exact:
                assert read.tasks == a.tasks
    (tmp_path / "a.csv").write_text("user,server,tasks\nuser 1,high-cpu,1\nuser 1,high-cpu,2\n")
    with pytest.raises(eh.InputError) as caught:
        two_servers.allocation_from_file(tmp_path / "a.csv")
    assert caught.value.field == "rows[1].server"


@pytest.mark.skipif(sys.version_info < (3, 10), reason="fairpyx needs Python 3.10")
def test_instances_of_fairpyx_survive_conversion():
    import fairpyx

    instance = fairpyx.Instance(
        valuations={"Alice": {"c1": 8, "c2": 6, "c3": 0}, "Bob": {"c1": 6, "c2": 8, "c3": 4}}, item_capacities={"c1": 1, "c2": 2, "c3": 1}
    )
    p = eh.Problem.from_fairpyx(instance)
    assert p.users == ("Alice", "Bob") and p.servers == ("c1", "c2", "c3")
    # Each agent alone has the value of all goods.
    assert p.alone() == {"Alice": 8 + 2 * 6, "Bob": 6 + 2 * 8 + 4}
    a = p.solve("ps-dsf-tdm")
    c = a.certify(["feasible", "envy-free", "pareto-optimal"])
    assert all(verdict.holds for verdict in c.verdicts.values())
    back = p.to_fairpyx()
    for agent in instance.agents:
        for item in instance.items:
            assert back.agent_item_value(agent, item) == instance.agent_item_value(agent, item)
            assert back.item_capacity(item) == instance.item_capacity(item)
    assert eh.Problem.from_fairpyx(back) == p
    with pytest.raises(eh.NotApplicable):
        eh.Problem.from_fairpyx(fairpyx.Instance(valuations={"a": {"x": 1, "y": 2}}, agent_capacities=1))
    with pytest.raises(eh.NotApplicable):
        eh.Problem.from_arrays([[1]], [[1]]).to_fairpyx()
