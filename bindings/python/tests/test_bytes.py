"""Documents are the same as those of the program, byte for byte."""

import json
import re
from fractions import Fraction

import pytest

import evenhand as eh
from conftest import EXAMPLES


def without_time(text):
    """Removes the running time, the only difference allowed."""
    return re.sub(r'"seconds": [0-9.e+-]+', '"seconds": 0', text)


@pytest.mark.parametrize("name", ["two-servers.json", "queues.json"])
@pytest.mark.parametrize("mechanism, settings", [
    ("drfh", {}), ("tsf", {}), ("proportional", {}), ("alpha", {"alpha": 2}), ("ps-dsf", {}), ("ps-dsf-tdm", {}), ("njc", {}),
    ("utilitarian", {}), ("fill", {"score": "drf", "server": "first-fit"}), ("tree", {}),
])  # fmt: skip
@pytest.mark.parametrize("exact", [True, False])
def test_allocations_and_certificates_equal_those_of_the_program(tmp_path, binary, name, mechanism, settings, exact):
    path = EXAMPLES / name
    problem = eh.Problem.from_file(path)
    try:
        a = problem.solve(mechanism, exact=exact, **settings)
    except (eh.NotApplicable, eh.SolverError, eh.InputError) as error:
        flags = [text for key, value in settings.items() for text in (f"--{key}", str(value))]
        status = 3 if isinstance(error, eh.SolverError) else 2
        binary("evenhand", "solve", path, "--mechanism", mechanism, *([] if exact else ["--float"]), *flags, status=status)
        return
    flags = [text for key, value in settings.items() for text in (f"--{key}", str(value))]
    out, certificate = tmp_path / "a.json", tmp_path / "c.json"
    binary("evenhand", "solve", path, "--mechanism", mechanism, "-o", out, *([] if exact else ["--float"]), *flags)
    assert without_time(a.to_json()) == without_time(out.read_text())
    c = a.certify()
    status = 1 if any(verdict.holds is False for verdict in c.verdicts.values()) else 0
    binary("evenhand", "certify", path, out, "-o", certificate, status=status)
    assert c.to_json() == certificate.read_text()
    sharing = ["--sharing", "tdm"] if a.sharing == "tdm" else []
    assert binary("evenhand-check", certificate, *sharing) == eh.check(c, sharing=a.sharing) + "\n"


def test_other_results_equal_those_of_the_program(tmp_path, binary, two_servers):
    path = EXAMPLES / "two-servers.json"
    a = two_servers.solve("drfh")
    a.to_file(tmp_path / "a.json")
    said = binary("evenhand", "--format", "json", "explain", path, tmp_path / "a.json", "--user", "user 1")
    assert a.explain("user 1").to_json() == said
    said = binary("evenhand", "--format", "json", "compare", path, "-m", "drfh", "-m", "tsf", "-m", "utilitarian")
    assert eh.compare(two_servers, ["drfh", "tsf", "utilitarian"]).to_json() == said
    said = binary("evenhand", "--format", "json", "ratio", EXAMPLES / "vm-types.json")
    assert eh.Reservation.from_file(EXAMPLES / "vm-types.json").ratio().to_json() == said
    said = binary("evenhand", "--format", "json", "audit", "mechanism", "utilitarian", "--instances", "100")
    assert eh.audit("utilitarian", instances=100).to_json() == said
    said = binary("evenhand", "--format", "json", "certify", path, tmp_path / "a.json")
    assert a.certify()._shown.to_json() == said


def test_polished_answers_and_decimals_equal_those_of_the_program(tmp_path, binary, two_servers):
    path, given, out = EXAMPLES / "two-servers.json", tmp_path / "given.json", tmp_path / "polished.json"
    near = two_servers.allocation([["9.9999", 0], [0, 10]])
    near.to_file(given)
    program = ["evenhand", "--format", "json", "certify", path, given, "--tolerance", "1e-3", "--polish", "drfh"]
    said = json.loads(binary(*program))["polished"]
    found = near.polish("drfh")
    assert found.data == said and found.is_nearest and found.gap is None
    assert found.changes == {"user 1": Fraction(1, 10_000)} and found.distance == found.placements > 0
    binary(*program, "--polish-output", out)
    assert found.allocation.to_json() == out.read_text()
    said = binary("evenhand", "certify", path, given, "--tolerance", "1e-3", "--polish", "drfh")
    assert str(found).split() == said.split()[-len(str(found).split()) :]
    with pytest.raises(eh.InputError, match="mechanism"):
        near.polish("nobody")
    with pytest.raises(eh.InputError, match="beta"):
        near.polish("drfh", beta=2)
    a = two_servers.solve("drfh")
    binary("evenhand", "--decimals", "solve", path, "-m", "drfh", "-o", out)
    assert without_time(a.to_json(decimals=True)) == without_time(out.read_text())
    said = binary("evenhand", "--format", "json", "--decimals", "compare", path, "-m", "drfh", "-m", "tsf")
    assert eh.compare(two_servers, ["drfh", "tsf"]).to_json(decimals=True) == said
