"""Runs every example of the docstrings, and the ten lines of the README."""

import doctest
import importlib
import pkgutil
import re

import pytest

import evenhand
from conftest import ROOT

MODULES = ["evenhand", *(f"evenhand.{module.name}" for module in pkgutil.iter_modules(evenhand.__path__) if module.name != "_evenhand")]
FLAGS = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL & 0


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_the_documentation_run(name):
    found = doctest.testmod(importlib.import_module(name), optionflags=FLAGS)
    assert found.failed == 0


def test_the_documentation_has_examples():
    finder = doctest.DocTestFinder()
    count = sum(len(test.examples) for name in MODULES for test in finder.find(importlib.import_module(name)))
    assert count > 30


def test_the_readme_runs_as_printed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in (ROOT / "bindings/python/README.md", ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        for block in re.findall(r"```python\n(.*?)```", path.read_text(), re.S):
            exec(compile(block, str(path), "exec"), {})
    assert "```python" in (ROOT / "bindings/python/README.md").read_text()
