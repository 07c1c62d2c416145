"""Type checkers accept good programs, find every mistake of bad ones, and know the names of the library."""

import ast
import inspect
import json
import re
import subprocess
import sys
import typing
from pathlib import Path

import pytest

import evenhand as eh
from evenhand import _problem, _types

FOLDER = Path(__file__).parent / "typing"


def marked(checker):
    """Returns the lines of `bad.py` that are marked for a checker."""
    lines = enumerate((FOLDER / "bad.py").read_text().splitlines(), 1)
    return {number for number, line in lines if re.search(rf"# bad(: {checker})?$", line)}


def mypy(name):
    """Returns the lines with errors, from the messages of mypy."""
    pytest.importorskip("mypy", reason="mypy is not installed")
    call = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--cache-dir", "/dev/null", name]
    done = subprocess.run(call, cwd=FOLDER, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode in (0, 1), done.stdout
    return {int(number) for number in re.findall(rf"^{name}:(\d+): error:", done.stdout, re.M)}, done.stdout


def pyright(name):
    pytest.importorskip("pyright", reason="pyright is not installed")
    call = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, name]
    done = subprocess.run(call, cwd=FOLDER, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        found = json.loads(done.stdout)["generalDiagnostics"]
    except ValueError:
        # The package contains neither Node nor pyright: it downloads them when it first runs.
        pytest.skip(f"pyright does not start: {done.stderr[-300:]}")
    return {each["range"]["start"]["line"] + 1 for each in found if each["severity"] == "error"}, done.stdout


@pytest.mark.parametrize("check", [mypy, pyright])
def test_good_programs_are_accepted(check):
    lines, said = check("good.py")
    assert not lines, said


@pytest.mark.parametrize("check", [mypy, pyright])
def test_the_type_checker_reports_every_mistake(check):
    lines, said = check("bad.py")
    assert lines == marked(check.__name__), said


def test_good_programs_run():
    subprocess.run([sys.executable, str(FOLDER / "good.py")], check=True, stdout=subprocess.DEVNULL)


def choices(alias):
    return set(typing.get_args(alias))


def test_names_in_types_agree_with_the_library():
    other_names = {"c-drfh", "ps-dsf-rdm"}
    assert choices(_types.MechanismName) - other_names == set(eh.mechanisms())
    problem = eh.Problem.from_arrays([[1]], [[1]])
    for name in other_names:
        problem.solve(name)
    # The program lists the valid names in the error for an unknown name.
    for setting, names in [
        ("score", choices(_types.Score)), ("server", choices(_types.ServerRule)), ("ties", choices(_types.Ties)),
        ("select", choices(_types.Goal)), ("rule", choices(_types.TaskRule) | choices(_types.EntitlementRule)),
    ]:  # fmt: skip
        call = [Path(sys.executable).parent / "evenhand", "solve", "p.json", "-m", "fill", f"--{setting}", "?"]
        words = subprocess.run(call, stderr=subprocess.PIPE, text=True).stderr
        assert set(re.findall(r"[\w-]+", re.search(r"values: ([^\]]*)", words)[1])) == names, words


def test_settings_of_overloads_agree_with_the_library():
    """Reads the text of the module, because Python keeps no overloads before 3.11."""
    found = {}
    for node in ast.walk(ast.parse(inspect.getsource(_problem))):
        if isinstance(node, ast.FunctionDef) and node.name == "solve" and node.args.kwonlyargs:
            annotation = ast.unparse(node.args.args[1].annotation)
            names = eval(annotation, {"_types": _types, "Literal": typing.Literal})
            settings = {argument.arg for argument in node.args.kwonlyargs} - {"exact", "seed", "progress"}
            for name in typing.get_args(names):
                found.setdefault(name, set()).update(settings)
    for name, mechanism in eh.mechanisms().items():
        assert found[name] == set(mechanism.settings), name
    assert set(found) == choices(_types.MechanismName)
