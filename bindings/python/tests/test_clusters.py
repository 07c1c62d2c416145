"""Sweeps on clusters of two workers, one of which is killed: the final bytes are the same."""

import os
import signal
import threading
import time

import pytest

import evenhand as eh
from test_runtime import small

PROBLEMS = 60


@pytest.fixture
def ray():
    ray = pytest.importorskip("ray", reason="Ray is not installed: pip install ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    yield "ray"
    ray.shutdown()


@pytest.fixture
def dask():
    distributed = pytest.importorskip("distributed", reason="Dask is not installed: pip install distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster):
            yield "dask"


@pytest.fixture(params=["ray", "dask"])
def backend(request):
    return request.getfixturevalue(request.param)


def test_a_killed_worker_does_not_change_results(backend, tmp_path):
    folder = tmp_path / "workers"
    folder.mkdir()

    @eh.mechanism("slow")
    def slow(problem):
        """Computes the answer of drfh slowly, and records the process that computed it."""
        with open(os.path.join(str(folder), str(os.getpid())), "a") as file:
            file.write("x")
        time.sleep(0.05)
        return problem.solve("drfh").tasks

    problems = [small(seed) for seed in range(PROBLEMS)]
    killed = []

    def kill():
        """Kills one of two workers, after both have begun to work."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not killed:
            workers = [path for path in folder.iterdir() if path.stat().st_size >= 3]
            if len(workers) == 2:
                killed.append(int(workers[0].name))
                os.kill(killed[0], signal.SIGKILL)
            time.sleep(0.01)

    killer = threading.Thread(target=kill)
    killer.start()
    mechanisms = [slow, "tsf"]
    eh.sweep(problems, mechanisms, backend=backend, jobs=2, out=tmp_path / "cluster.jsonl")
    killer.join()
    assert killed, [path.name for path in folder.iterdir()]
    assert sum(path.stat().st_size for path in folder.iterdir()) >= PROBLEMS
    eh.sweep(problems, mechanisms, backend="sequential", out=tmp_path / "sequential.jsonl")
    assert (tmp_path / "cluster.jsonl").read_bytes() == (tmp_path / "sequential.jsonl").read_bytes()
