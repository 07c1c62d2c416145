"""Threads, signals, limits, memory and speed."""

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import evenhand as eh


def small(seed):
    random = np.random.default_rng(seed)
    return eh.Problem.from_arrays(random.integers(1, 13, (2, 2)), random.integers(1, 7, (3, 2)))


def large(n=300, k=40, m=4):
    random = np.random.default_rng(7)
    return eh.Problem.from_arrays(random.random((k, m)) + 0.5, random.random((n, m)) * 0.1 + 0.01, weights=random.random(n) + 0.5)


def test_a_thousand_small_problems_take_two_seconds():
    problems = [small(seed) for seed in range(1_000)]
    begun = time.perf_counter()
    for problem in problems:
        assert problem.solve("drfh").certify().verdicts["max-min:drfh"].holds
    seconds = time.perf_counter() - begun
    print(f"1,000 problems solved and certified in {seconds:.2f} s")
    # Machines differ and may be busy; the goal of 2 s is for an idle machine.
    assert seconds < 6


def test_threads_give_the_same_answers():
    problems = [small(seed) for seed in range(60)]
    alone = [p.solve("drfh").certify().to_json() for p in problems]
    with ThreadPoolExecutor(2) as pool:
        at_once = list(pool.map(lambda p: p.solve("drfh").certify().to_json(), problems + problems))
    assert at_once == alone + alone


def test_the_global_interpreter_lock_is_released():
    problem, ticks, done = large(), [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.005)

    thread = threading.Thread(target=tick)
    thread.start()
    begun = time.perf_counter()
    problem.solve("drfh")
    seconds = time.perf_counter() - begun
    done.set()
    thread.join()
    during = [t for t in ticks if begun <= t <= begun + seconds]
    assert seconds > 0.05, "the problem is too easy to say anything"
    assert len(during) > seconds / 0.005 / 5


INTERRUPTED = """
import sys, threading, time, os, signal
import numpy as np
import evenhand as eh
random = np.random.default_rng(0)
p = eh.Problem.from_arrays(random.random((120, 5)) + 0.5, random.random((3000, 5)) * 0.1 + 0.01, weights=random.random(3000) + 0.5)
threading.Timer(0.7, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
begun = time.perf_counter()
try:
    with eh.limits(work=1e15, memory="8GiB"):
        while True:
            p.solve("drfh").certify()
except KeyboardInterrupt:
    seconds = time.perf_counter() - begun
    q = eh.Problem.from_arrays([[2, 12], [12, 2]], [["1/5", 1], [1, "1/5"]])
    assert q.solve("drfh").totals == {"u0": 10, "u1": 10}
    print("interrupted", seconds)
"""


def test_ctrl_c_interrupts_a_call():
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    word, seconds = done.stdout.split()
    assert word == "interrupted" and float(seconds) < 5


def test_progress_is_reported_and_can_end_a_call():
    steps = []
    eh.audit("drfh", instances=200, progress=lambda *step: steps.append(step))
    counted = [step for step in steps if step[2] == "problems"]
    assert counted[0] == (0.0, 200.0, "problems") and len(counted) >= 4

    def stop(done, total, what):
        if done >= 64:
            raise StopIteration("enough")

    with pytest.raises(StopIteration, match="enough"):
        eh.audit("drfh", instances=1_000_000, progress=stop)


def test_limits_end_calls():
    problem = large(60, 10)
    with eh.limits(work=1_000), pytest.raises(eh.LimitError, match="work"):
        problem.solve("drfh")
    with eh.limits(memory="64KiB"), pytest.raises(eh.LimitError):
        large(2_000, 100).solve("drfh")
    assert problem.solve("drfh").totals
    for bad in ({"work": 0}, {"work": -5}, {"memory": "much"}, {"memory": 0}):
        with pytest.raises(eh.InputError), eh.limits(**bad):
            pass


def test_memory_does_not_leak():
    """Makes 100,000 calls, and compares the memory of the process after the first tenth and at the end."""
    problem = small(1)
    allocation = problem.solve("drfh")

    def calls(count):
        for number in range(count):
            if number % 10:
                allocation._native.tasks(), allocation._native.totals(), problem.sha256
            elif number % 200:
                try:
                    eh.Problem.from_arrays([[1, -1]], [[1, 1]])
                except eh.InputError:
                    pass
            else:
                problem.solve("drfh").certify(["feasible"]).verdicts

    calls(10_000)
    before = resident()
    calls(100_000)
    grown = resident() - before
    assert grown < 8 << 20, f"{grown >> 10} KiB more"


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def solved(seed):
    return str(small(seed).solve("drfh").totals)


def test_forked_and_spawned_processes_work():
    expected = [solved(seed) for seed in range(6)]
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert pool.map_async(solved, range(6)).get(60) == expected


def compared(seed):
    try:
        return eh.compare(small(seed), ["drfh"])["drfh"].failed
    except eh.SolverError as error:
        return str(error)


def test_a_comparison_after_a_fork_raises_an_error():
    """A comparison would wait for threads that the forked process does not have."""
    assert compared(0) is None
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert "forked" in pool.map_async(compared, [0]).get(60)[0]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map_async(compared, [0]).get(60)[0] is None


def test_importing_is_quick_and_needs_no_other_package():
    script = """
        import sys, time
        begun = time.perf_counter()
        import evenhand
        seconds = time.perf_counter() - begun
        heavy = {"numpy", "pandas", "matplotlib", "joblib", "pyarrow"} & set(sys.modules)
        assert not heavy, heavy
        p = evenhand.Problem.from_arrays([[2, 12], [12, 2]], [[0.2, 1], [1, 0.2]])
        p.solve("drfh").certify().check(require=["envy-free"])
        assert not {"numpy"} & set(sys.modules)
        assert seconds < 1, seconds
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True)


def test_other_signals_reach_their_handlers():
    seen = []
    before = signal.signal(signal.SIGUSR1, lambda *_: seen.append(True))
    try:
        threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGUSR1)).start()
        large().solve("drfh")
        time.sleep(0.1)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert seen


def test_threads_can_be_limited():
    problem = large(80, 10)
    many = problem.solve("drfh").certify().to_json()
    eh.set_threads(1)
    try:
        assert problem.solve("drfh").certify().to_json() == many
    finally:
        eh.set_threads(0)
