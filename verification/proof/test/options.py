#!/usr/bin/env python3
"""Runs evenhand-proof and evenhand-check with the same options: --problem, --allocation, --require and --max-tolerance.

The test runs on all accepted certificates of the test kit, of every kind. Both programs must print the same hash of the problem
and end with the same status. evenhand-proof may also report a certificate as not covered (3).
"""
import copy, json, os, re, subprocess, sys, tempfile
from fractions import Fraction
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
PROOF = HERE.parent / "build" / "evenhand-proof"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
CHECK = os.environ.get("EVENHAND_CHECK", TARGET / "evenhand-check")
WORK = Path(tempfile.mkdtemp(prefix="options-"))
compared, uncovered, wrong = 0, 0, []


def run(program, *arguments):
    done = subprocess.run([str(program), *map(str, arguments)], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def ask(path, arguments, expected=None):
    """Runs both programs with the same arguments. `expected` is the status of evenhand-check, if it is known."""
    global compared, uncovered
    (a, said_a), (b, said_b) = run(CHECK, path, *arguments), run(PROOF, path, *arguments)
    compared += 1
    uncovered += b == 3
    hashes = [re.findall(r"^problem sha256 (\w+)", said, re.M) for said in (said_a, said_b)]
    same_hash = not all(hashes) or hashes[0] == hashes[1]
    if (b not in (a, 3)) or not same_hash or expected not in (None, a):
        wrong.append((path.name, arguments, a, b, expected, said_a.split("\n")[0], said_b.split("\n")[0]))


def written(name, document):
    path = WORK / name
    path.write_text(json.dumps(document))
    return path


def turned(problem):
    """Returns the same problem with another title, and with resources, servers and users in reverse order."""
    turned = {**copy.deepcopy(problem), "name": "another title"}
    if "resources" in turned:
        turned["resources"].reverse()
    if problem["kind"] == "allocation-problem":
        for key in ("servers", "users"):
            turned[key].reverse()
    return turned


def changed(problem):
    """Returns a different problem, in which one weight or one reward differs."""
    other = copy.deepcopy(problem)
    if problem["kind"] == "allocation-problem":
        other["users"][0]["weight"] = "7/5" if other["users"][0].get("weight") != "7/5" else 1
    else:
        other["jobs"][0]["reward"] = 77
    return other


def main():
    for kind in ("allocation", "ratio", "worst-load"):
        for path in sorted((ROOT / "crates/testkit/certificates" / kind / "accept").glob("*.json")):
            certificate = json.loads(path.read_text())
            problem = certificate["problem"]
            base = []
            if kind == "allocation":
                base = ["--max-tolerance", "0.9"]
                if certificate["allocation"].get("sharing") == "tdm":
                    base += ["--sharing", "tdm"]
            ask(path, base, 0)
            ask(path, [*base, "--problem", written("problem.json", problem)], 0)
            ask(path, [*base, f"--problem={written('turned.json', turned(problem))}"], 0)
            if kind != "allocation" or problem["users"]:
                ask(path, [*base, "--problem", written("changed.json", changed(problem))], 1)
            ask(path, [*base, "--problem", written("list.json", [])], 2)
            ask(path, [*base, "--problem", WORK / "missing.json"], 2)
            ask(path, [*base, "--require", "no-such-axiom"], 2)
            if kind != "allocation":
                for required in ("exact", "ratio:1", "ratio:1/2", "ratio:x", "envy-free"):
                    ask(path, [*base, "--require", required])
                ask(path, [*base, "--allocation", path], 2)
                ask(path, [*base, "--sharing", "rdm"], 2)
                continue
            allocation = certificate["allocation"]
            ask(path, [*base, "--allocation", written("allocation.json", allocation)], 0)
            ask(path, [*base, "--allocation", written("decorated.json", {**allocation, "seconds": 1, "gap": "0"})], 0)
            ask(path, [*base, "--allocation", written("of-another.json", {**allocation, "problem_sha256": "0" * 64})], 1)
            none = {"kind": "allocation", "sharing": allocation.get("sharing", "rdm"), "tasks": {}}
            ask(path, [*base, "--allocation", written("none.json", none)])
            if Fraction(str(certificate.get("tolerance", 0))) > 0:
                ask(path, [*(["--sharing", "tdm"] if "tdm" in base else []), "--max-tolerance", "0"], 1)
            for axiom in ("envy-free", "feasible", "max-min:drfh", "max-min:tsf", "proportional:1", "proportional", "limits",
                          "tree", "max-min", "max-min:resource:cpu", "njc"):
                ask(path, [*base, "--require", axiom])
            for claim in certificate["claims"]:
                if claim["axiom"] == "proportional" and "share" in claim:
                    continue  # --require can only name an exponent
                more = [str(claim[key]) for key in ("share", "alpha") if key in claim]
                ask(path, [*base, "--require", ":".join([claim["axiom"], *(more or (["1"] if claim["axiom"] == "proportional" else []))])],
                    0 if claim["holds"] else 1)
    for row in wrong:
        print("WRONG:", *row)
    print(f"options: {compared} questions to both programs, {uncovered} not covered by the proved checker, {len(wrong)} wrong")
    sys.exit(1 if wrong or not compared else 0)


if __name__ == "__main__":
    main()
