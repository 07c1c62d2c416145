"""Sweeps: the lines are the same on every backend."""

import json

import pytest

import evenhand as eh
from conftest import EXAMPLES
from test_runtime import small


@eh.mechanism("half")
def half(problem):
    return {user: {server: x / 2 for server, x in on.items()} for user, on in problem.solve("drfh").tasks.items()}


MECHANISMS = ["drfh", "tsf", ("alpha", {"alpha": 2}), "drf", half]


def test_every_backend_writes_the_same_bytes(tmp_path):
    problems = [small(seed) for seed in range(20)]
    texts = {}
    for backend in ("sequential", "loky", "threading"):
        out = tmp_path / f"{backend}.jsonl"
        found = eh.sweep((p for p in problems), MECHANISMS, backend=backend, jobs=2, out=out)
        assert len(found) == 100 and found.path == str(out)
        texts[backend] = out.read_bytes()
        assert not list(tmp_path.glob(".evenhand*"))
    assert texts["loky"] == texts["sequential"] == texts["threading"]
    lines = [json.loads(line) for line in texts["loky"].decode().splitlines()]
    assert [(line["number"], line["mechanism"]) for line in lines] == [
        (number, name) for number in range(20) for name in ("drfh", "tsf", "alpha", "drf", "half")
    ]
    assert lines[2]["settings"] == {"alpha": "2"} and "not_applicable" in lines[3]
    assert lines[0]["axioms"]["max-min:drfh"]["holds"] is True
    assert lines[4]["axioms"]["work-conserving"]["holds"] is False
    assert len(eh.sweep(problems, MECHANISMS, backend="sequential").to_pandas()) == 100


def test_backends_may_return_all_results_at_once(monkeypatch, tmp_path):
    """A backend like Ray: joblib refuses a generator, and results come in blocks."""
    import joblib

    import evenhand._sweep as module

    class AtOnce(joblib.Parallel):
        def __init__(self, *arguments, return_as="list", **settings):
            if return_as != "list":
                raise ValueError("no generator")
            super().__init__(*arguments, **settings)

    monkeypatch.setattr(joblib, "Parallel", AtOnce)
    monkeypatch.setattr(module, "AT_ONCE", 3)
    problems = [small(seed) for seed in range(8)]
    eh.sweep(problems, ["drfh"], backend="threading", jobs=2, out=tmp_path / "a")
    eh.sweep(problems, ["drfh"], backend="sequential", out=tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_lines_have_the_chosen_names(tmp_path):
    small(3).to_file(tmp_path / "p.json")
    found = eh.sweep(
        [tmp_path / "p.json", small(4).to_dict()], {"a=1": ("alpha", {"alpha": 1}), "a=2": ("alpha", {"alpha": 2})},
        backend="sequential", axioms=["envy-free"], tolerance=1e-9,
    )  # fmt: skip
    assert [line["mechanism"] for line in found] == ["a=1", "a=2"] * 2
    assert all(list(line["axioms"]) == ["envy-free"] for line in found)


def test_a_failed_sweep_leaves_no_file(tmp_path):
    out = tmp_path / "f.jsonl"
    with pytest.raises(eh.InputError):
        eh.sweep([small(1), {"resources": 7}], ["drfh"], backend="sequential", out=out)
    with pytest.raises(eh.InputError):
        eh.sweep([small(1)], ["drfh", "nothing"], backend="sequential", out=out)
    assert not list(tmp_path.iterdir())


def test_limits_hold_in_workers():
    with eh.limits(work=10):
        lines = list(eh.sweep([small(1)], ["drfh"], backend="loky", jobs=1))
    assert "failed" in lines[0]


def test_the_program_writes_the_same_bytes(tmp_path, binary):
    """The lines agree also for problems without results, settings of every kind, and floats."""
    problems = [small(seed) for seed in range(8)] + [eh.Problem.from_file(EXAMPLES / "queues.json")]
    paths = [tmp_path / f"p{number}.json" for number in range(len(problems))]
    for path, problem in zip(paths, problems):
        problem.to_file(path)
    mechanisms = [
        {"mechanism": "drfh"},
        {"mechanism": "tsf", "name": "täsks \" \\ \u2028"},
        {"mechanism": "alpha", "name": "a", "settings": {"alpha": "1/2", "criterion": False}},
        {"mechanism": "tree", "settings": {"rule": "kai"}},
        {"mechanism": "fill", "settings": {"score": "drf", "server": "first-fit"}},
        {"mechanism": "drf"},
    ]
    asked = {of.get("name", of["mechanism"]): (of["mechanism"], of.get("settings", {})) for of in mechanisms}
    for more in ({}, {"axioms": ["envy-free", "max-min:drfh"], "tolerance": 0.125}, {"certify": False, "exact": False}):
        grid = {"kind": "sweep", "problems": ["p*.json"], "mechanisms": mechanisms, **more}
        (tmp_path / "grid.json").write_text(json.dumps(grid))
        binary("evenhand", "sweep", tmp_path / "grid.json", "-o", tmp_path / "program.jsonl")
        eh.sweep(paths, asked, backend="sequential", out=tmp_path / "python.jsonl", **more)
        assert (tmp_path / "program.jsonl").read_bytes() == (tmp_path / "python.jsonl").read_bytes()
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    binary("evenhand", "sweep", tmp_path / "grid.json", "-o", tmp_path / "program.parquet")
    rows = pandas.read_parquet(tmp_path / "program.parquet")
    lines = [json.loads(line) for line in (tmp_path / "program.jsonl").read_text().split("\n")[:-1]]
    assert list(rows["number"]) == [line["number"] for line in lines]
    there = [line["total_tasks"] for line in lines if "total_tasks" in line]
    assert list(rows["total_tasks"].dropna()) == there


def test_the_job_of_kubernetes_is_yaml():
    yaml = pytest.importorskip("yaml")
    job = yaml.safe_load((EXAMPLES / "sweeps" / "kubernetes.yaml").read_text())
    assert (job["kind"], job["spec"]["completionMode"]) == ("Job", "Indexed")
    (container,) = job["spec"]["template"]["spec"]["containers"]
    environment = {of["name"]: of["value"] for of in container["env"]}
    assert int(environment["PARTS"]) == job["spec"]["completions"]
    assert "evenhand sweep" in container["args"][0]
