"""The files that are installed with the module."""

import json
from importlib.metadata import distribution, files

import evenhand as eh


def test_the_wheel_contains_both_programs(binary):
    version = distribution("evenhand").version
    assert version == eh.__version__
    assert binary("evenhand", "--version").split()[-1] == version
    assert "evenhand-check" in binary("evenhand-check", "--help")


def test_the_wheel_contains_licences_and_components():
    names = {path.name: path for path in files("evenhand")}
    for name in ("LICENSE-MIT", "LICENSE-APACHE", "LGPL-3.0.txt", "GPL-3.0.txt", "GMP.md", "THIRD-PARTY.txt", "py.typed", "_evenhand.pyi"):
        assert name in names, name
    assert "relink" in names["GMP.md"].read_text()
    boms = [json.loads(path.read_text()) for name, path in names.items() if "/sboms/" in str(path)]
    components = {component["name"] for bom in boms for component in bom["components"]}
    assert {"gmp", "highs", "rug", "pyo3", "clap"} <= components


def test_the_wheel_requires_no_packages():
    requires = distribution("evenhand").requires or []
    assert all("extra ==" in requirement for requirement in requires)
