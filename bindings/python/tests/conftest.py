"""Shared fixtures: the installed package, and problems."""

import importlib
import pathlib
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, settings

import evenhand as eh

ROOT = pathlib.Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "examples"

settings.register_profile("default", deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, database=None)
settings.load_profile("default")


def pytest_sessionstart(session):
    """Checks that the tests use the installed package, and not these sources."""
    found = pathlib.Path(importlib.import_module("evenhand").__file__).resolve()
    assert ROOT / "bindings" not in found.parents, f"evenhand comes from {found}, which is not installed"


@pytest.fixture
def two_servers():
    """DRFH, Figure 1."""
    return eh.Problem.from_file(EXAMPLES / "two-servers.json")


@pytest.fixture
def binary():
    """Returns a function that runs a program of the wheel."""

    def run(program, *arguments, status=0):
        path = pathlib.Path(sys.executable).parent / program
        done = subprocess.run([path, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert done.returncode == status, done.stderr
        return done.stdout

    return run
