#!/usr/bin/env python3
"""Writes .ci/advisories.txt: the advisories of RustSec's database about the crates in both lock files.

    git clone https://github.com/rustsec/advisory-db FOLDER
    scripts/advisories.py FOLDER

With this excerpt, the tests compare locked versions with known advisories without a network. Without a
folder, `scripts/advisories.py` names the crates that the excerpt does not cover.
"""

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXCERPT = ROOT / ".ci/advisories.txt"


def locked():
    """Returns the names of the registry crates in both lock files."""
    names = set()
    for lock in ("Cargo.lock", "fuzz/Cargo.lock"):
        packages = tomllib.loads((ROOT / lock).read_text())["package"]
        names |= {package["name"] for package in packages if "source" in package}
    return names


def git(folder, *words):
    return subprocess.run(["git", "-C", folder, *words], check=True, capture_output=True, text=True).stdout


def excerpt(folder):
    names = locked()
    commit, date = git(folder, "log", "-1", "--format=%H %cs").split()
    lines = [
        "# The advisories of https://github.com/rustsec/advisory-db (CC0-1.0) about the crates of Cargo.lock and",
        f"# fuzz/Cargo.lock; commit {commit} of {date}.",
        "# scripts/advisories.py writes this file. A line has the ID, the crate and the kind, then the unaffected versions, in sets separated by |.",
        "asked " + " ".join(sorted(names)),
    ]
    for path in git(folder, "ls-tree", "-r", "--name-only", "HEAD", "crates").split():
        if path.split("/")[1] not in names:
            continue
        text = git(folder, "show", f"HEAD:{path}").split("```toml\n")[1].split("```")[0]
        found = tomllib.loads(text)
        about, versions = found["advisory"], found.get("versions", {})
        if "withdrawn" in about:
            continue
        safe = " | ".join(versions.get("patched", []) + versions.get("unaffected", []))
        kind = about.get("informational", "vulnerable")
        lines.append(f"{about['id']} {about['package']} {kind}; {safe}".rstrip())
    EXCERPT.write_text("\n".join(lines) + "\n")


def not_asked():
    asked = next(line for line in EXCERPT.read_text().splitlines() if line.startswith("asked ")).split()[1:]
    missing = sorted(locked() - set(asked))
    if missing:
        print("advisories: .ci/advisories.txt does not cover these crates; run scripts/advisories.py FOLDER:", *missing)


if len(sys.argv) > 1:
    excerpt(sys.argv[1])
else:
    not_asked()
