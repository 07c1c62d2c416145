"""The promises of the package about errors, warnings, memory and written files."""

import os
import stat
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import evenhand as eh
from conftest import EXAMPLES

HUGE = 10**5000


@pytest.mark.parametrize("given", ["x.json", 3, None, {"servers": []}])
def test_values_that_are_not_problems_are_refused(given):
    with pytest.raises(eh.InputError) as caught:
        eh.compare(given, ["drfh"])
    assert caught.value.field == "problem" and "from_file" in str(caught.value)


def test_sweep_and_accuracy_refuse_values_that_are_not_problems(two_servers):
    with pytest.raises(eh.InputError) as caught:
        eh.accuracy(lambda problem: problem.solve("drfh").to_numpy(), "x.json", "drfh")
    assert caught.value.field == "problems"
    with pytest.raises(eh.InputError) as caught:
        eh.accuracy(lambda problem: problem.solve("drfh").to_numpy(), [two_servers, 3], "drfh")
    assert caught.value.field == "problems[1]"
    with pytest.raises(eh.InputError) as caught:
        eh.sweep([3], ["drfh"], backend="sequential")
    assert caught.value.field == "problems"
    # A single problem is a sweep of one problem.
    assert len(eh.sweep(two_servers, ["drfh"], backend="sequential")) == 1


def test_an_unknown_backend_is_refused(two_servers):
    with pytest.raises(eh.InputError) as caught:
        eh.sweep([two_servers], ["drfh"], backend="lokky")
    assert caught.value.field == "backend" and "loky" in str(caught.value)


@pytest.mark.parametrize(
    "read",
    [
        eh.Problem.from_file,
        eh.Reservation.from_file,
        eh.ratio,
        eh.simulate,
        eh.check,
        lambda path: eh.Problem.from_file(EXAMPLES / "two-servers.json").allocation_from_file(path),
        lambda path: eh.sweep([path], ["drfh"], backend="sequential"),
    ],
)
def test_a_missing_file_is_named(read, tmp_path):
    path = tmp_path / "nothing.json"
    with pytest.raises(FileNotFoundError) as caught:
        read(path)
    assert caught.value.filename == str(path) and "nothing.json" in str(caught.value)


@pytest.mark.parametrize(
    "call",
    [
        lambda p: eh.Problem.from_arrays([[HUGE]], [[1]]),
        lambda p: eh.Problem.from_arrays([[1]], [[1]], weights=[HUGE]),
        lambda p: eh.Problem.from_arrays([[1]], [[1]], counts=[HUGE]),
        lambda p: eh.Problem.from_dict({"resources": ["r"], "servers": [{"name": "s", "count": HUGE, "capacity": {"r": 1}}]}),
        lambda p: p.solve("alpha", alpha=HUGE),
        lambda p: p.solve("fill", seed=HUGE),
        lambda p: p.solve("drfh", seconds=HUGE),
        lambda p: p.solve("drfh").certify(tolerance=HUGE),
        lambda p: p.solve("drfh").certify(alpha=-HUGE),
        lambda p: p.solve("drfh").certify(seconds=HUGE),
        lambda p: p.judge([[HUGE, 0], [0, 0]], tolerance=-HUGE),
        lambda p: eh.check(p.solve("drfh").certify(), max_tolerance=HUGE),
        lambda p: eh.audit("drfh", instances=HUGE),
        lambda p: eh.audit("drfh", instances=10, users=HUGE),
        lambda p: eh.compare(p, ["drfh"], tolerance=HUGE),
        lambda p: eh.compare(p, ["drfh"], seconds=HUGE),
        lambda p: eh.sweep([p], ["drfh"], tolerance=HUGE, backend="sequential"),
        lambda p: eh.limits(work=HUGE).__enter__(),
        lambda p: eh.limits(memory=HUGE).__enter__(),
        lambda p: eh.simulate(EXAMPLES / "nothing.json", seed=HUGE),
        lambda p: eh.simulate(EXAMPLES / "nothing.json", seconds=HUGE),
        lambda p: eh.simulate(EXAMPLES / "nothing.json", replications=HUGE),
        lambda p: eh.set_threads(HUGE),
    ],
)
def test_errors_for_overlong_numbers_are_short(call, two_servers):
    with pytest.raises(eh.InputError) as caught:
        call(two_servers)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    "scenario, field",
    [
        ({}, "kind"),
        ({"kind": "scenario"}, "servers"),
        ({"kind": "scenario", "problem": 3}, "problem"),
        ({"kind": "reservation-scenario"}, "reservation"),
        ({"kind": "poem"}, "kind"),
    ],
)
def test_errors_of_scenarios_name_a_field_but_no_file(scenario, field):
    with pytest.raises(eh.InputError) as caught:
        eh.simulate(scenario)
    assert caught.value.file is None and "<dict>" not in str(caught.value)
    assert caught.value.field == field


def test_a_rule_that_exceeds_the_capacity_causes_a_warning(two_servers):
    @eh.mechanism("generous")
    def generous(problem, times=10):
        return problem.solve("drfh").to_numpy() * times

    with pytest.warns(eh.EvenhandWarning, match="`generous` gives more than fits") as caught:
        allocation = two_servers.solve(generous)
    assert caught[0].filename == __file__
    # The allocation is returned nevertheless, so that it can be judged.
    assert allocation.certify(["feasible"]).verdicts["feasible"].holds is False
    assert two_servers.solve(generous, times=1).totals == {"user 1": 10, "user 2": 10}
    # An excess by rounding causes no warning.
    assert two_servers.solve(generous, 1 + 1e-12).totals


def test_rules_get_the_settings_that_they_accept(two_servers):
    @eh.mechanism("seeded")
    def seeded(problem, seed=0, *, exact=True):
        return np.full((2, 2), 0 if exact else seed / 100)

    assert not two_servers.solve(seeded).tasks["user 1"]
    assert two_servers.solve(seeded, seed=5, exact=False).to_numpy()[0, 0] == 0.05
    # A rule that takes none of the general arguments is called without them.
    assert two_servers.solve(lambda problem: np.zeros((2, 2)), seed=3, exact=False, progress=print).totals
    with pytest.raises(eh.InputError, match="named"):
        two_servers.solve("alpha", 2)


def test_memory_is_freed_after_a_limit():
    """Runs in its own process, so that nothing else uses memory."""
    script = """
        import os, time
        import numpy as np
        import evenhand as eh

        def resident():
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

        random = np.random.default_rng(1)
        small = eh.Problem.from_arrays(random.integers(1, 9, (3, 2)), random.integers(1, 9, (4, 2)))
        small.solve("drfh").certify()
        problem = eh.Problem.from_arrays(random.integers(5, 20, (1000, 3)), random.integers(1, 9, (2000, 3)))
        problem.sha256
        before, most = resident(), 0

        def look(*_):
            global most
            most = max(most, resident())

        for _ in range(2):
            try:
                with eh.limits(memory="400MiB"):
                    problem.solve("ps-dsf", progress=look)
                    raise SystemExit("there was no limit")
            except eh.LimitError:
                pass
        # A call stops only between steps, so the solver first ends its current step.
        for _ in range(600):
            left = resident() - before
            if left < 64 << 20:
                break
            time.sleep(0.1)
        print(f"most {(most - before) >> 20} MiB, left {left >> 20} MiB")
        assert most - before > 150 << 20, "it took no memory"
        assert left < 64 << 20, f"{left >> 20} MiB are left"
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout


def test_the_umask_is_obeyed_and_never_changed(tmp_path, two_servers, monkeypatch):
    def refused(mask):
        raise AssertionError(f"the umask was set to {mask:o}")

    before = os.umask(0o027)
    try:
        with monkeypatch.context() as patched:
            patched.setattr(os, "umask", refused)
            two_servers.to_file(tmp_path / "p.json")
            eh.sweep([two_servers], ["drfh"], backend="sequential", out=tmp_path / "lines.jsonl")
            two_servers.solve("drfh").to_csv(tmp_path / "a.csv")
            os.chmod(tmp_path / "a.csv", 0o604)
            two_servers.solve("drfh").to_csv(tmp_path / "a.csv")
    finally:
        assert os.umask(before) == 0o027
    mode = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert mode == {"p.json": 0o640, "lines.jsonl": 0o640, "a.csv": 0o604}


def test_files_of_other_threads_get_their_own_permissions(tmp_path, two_servers):
    """While one thread writes, another thread creates files: none of them may be readable by everyone."""
    before, wrong, stop = os.umask(0o077), [], threading.Event()

    def make():
        number = 0
        while not stop.is_set():
            number += 1
            path = tmp_path / f"other-{number % 50}-{number}"
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o666))
            if stat.S_IMODE(path.stat().st_mode) != 0o600:
                wrong.append(path)
            path.unlink()

    thread = threading.Thread(target=make)
    thread.start()
    try:
        for _ in range(300):
            two_servers.to_file(tmp_path / "p.json")
    finally:
        stop.set()
        thread.join()
        os.umask(before)
    assert not wrong


def test_verdicts_name_their_least_tolerance(two_servers):
    """As in `evenhand certify`, rounding is told from a violation, and the verdict names the least tolerance."""
    rounded = two_servers.judge([[10 - 3.72e-5, 0], [0, 10]])
    shown = str(rounded)
    assert "VIOLATED at 1e-6; holds from 3.1e-6" in shown
    assert "solver's rounding rather than a violation" in shown and "tolerance=1e-5" in shown
    assert "Other axioms may be violated at that tolerance." in shown
    assert two_servers.judge([[10 - 3.72e-5, 0], [0, 10]], tolerance=3.1e-6).verdicts["pareto-optimal"].holds
    assert "3.1e-6" in rounded._repr_html_() and "VIOLATED at 1e-6; holds from 3.1e-6" in rounded.to_markdown()
    unfair = str(two_servers.judge([[8, 0], [0, 10]]))
    assert "This is a violation, not a solver's rounding" in unfair and "holds from 0.17" in unfair
    assert "rounding" not in str(two_servers.judge([[10, 0], [0, 10]]))
    frame = rounded.to_pandas()
    assert frame.loc["pareto-optimal", "least_tolerance"] == 3.1e-6 and frame.loc["feasible", "least_tolerance"] == 0
