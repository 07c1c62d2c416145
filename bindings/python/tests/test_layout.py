"""Imports between the files of the package."""

import ast
from pathlib import Path

import evenhand

#: The most files in a cycle of imports: `_problem`, `_allocation` and `_compare` create each other's objects, and `_rules` names the
#: type of problems.
MOST = 4


def imports(path):
    """Yields the files of the package that a file imports anywhere, also for annotations."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            yield from [node.module] if node.module else [name.name for name in node.names]


def reached(start, graph):
    found, left = set(), [start]
    while left:
        for to in graph.get(left.pop(), ()):
            if to not in found:
                found.add(to)
                left.append(to)
    return found


def test_modules_do_not_import_each_other_in_long_cycles():
    files = {path.stem: path for path in Path(evenhand.__file__).parent.glob("*.py") if path.stem != "__init__"}
    graph = {name: set(imports(path)) & set(files) for name, path in files.items()}
    assert graph["_problem"] >= {"_allocation", "_compare", "_tables"}
    ahead = {name: reached(name, graph) for name in graph}
    for name, others in ahead.items():
        circle = sorted(other for other in others if name in ahead[other])
        assert len(circle) <= MOST, f"these files import each other in a circle: {', '.join(circle)}"
