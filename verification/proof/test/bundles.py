#!/usr/bin/env python3
"""Damages certificates of verdicts and of moves, and judges the certificates by evenhand-check and by both builds of
evenhand-proof.

One number of each certificate is replaced. evenhand-proof must not prove a certificate that evenhand-check refuses, in machine
code or in a browser. evenhand-proof must not refuse a certificate that evenhand-check accepts. The answer "not covered" (3) is
always allowed.

    bundles.py [COUNT]     the number of damaged certificates (default: 400)
"""
import json, os, random, re, subprocess, sys, tempfile
from collections import Counter
from pathlib import Path

import both

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
PROOF = HERE.parent / "build" / "evenhand-proof"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
CHECK = os.environ.get("EVENHAND_CHECK", TARGET / "evenhand-check")
EVENHAND = os.environ.get("EVENHAND", TARGET / "evenhand")
COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 400
WORK = Path(tempfile.mkdtemp(prefix="bundles-"))
counts, wrong = Counter(), []


def status(program, path):
    return subprocess.run([str(program), str(path)], capture_output=True).returncode


def judge(name, text, browser, is_whole=False):
    path = WORK / "bundle.json"
    path.write_text(text)
    kernel, machine = status(CHECK, path), status(PROOF, path)
    page, _ = browser.judge(text.encode(), "-", "1e-6")
    counts["whole" if is_whole else "damaged", kernel, machine] += 1
    right = page == machine and machine != 0 and (kernel != 0 or machine == 3)
    if not right or (is_whole and kernel != 0):
        wrong.append((name, kernel, machine, page))


def main():
    rng, browser, whole = random.Random(1), both.Browser(), []
    for example in ("cluster", "cluster-ahead", "cluster-fragmented", "cluster-idle"):
        for command in ("verdict", "moves"):
            path = WORK / "new.json"
            subprocess.run([str(EVENHAND), command, str(ROOT / f"examples/{example}.json"), "-o", str(path), "--quiet"],
                           capture_output=True)
            whole.append((f"{command} {example}", path.read_text()))
            path.unlink()
    path = WORK / "new.json"
    subprocess.run([str(EVENHAND), "moves", str(ROOT / "examples/cluster-jagged.json"), "--for", "training", "-o", str(path), "--quiet"],
                   capture_output=True)
    whole.append(("moves --for cluster-jagged", path.read_text()))
    path.unlink()
    for name, text in whole:
        json.loads(text)
        judge(name, text, browser, is_whole=True)
    for _ in range(COUNT):
        name, text = rng.choice(whole)
        # Only digits of numbers are changed, but no digits in names, hashes or titles.
        at = rng.choice([m.start() for m in re.finditer(r"(?<=[:\[,\"/])-?\d+(?=[\"\],}/])", text)])
        digits = re.match(r"-?\d+", text[at:]).group(0)
        other = str(int(digits) + rng.choice([-1, 1, 7]))
        judge(name, text[:at] + other + text[at + len(digits):], browser)
    print("what      evenhand-check  evenhand-proof  certificates")
    for (kind, kernel, machine), count in sorted(counts.items()):
        print(f"{kind:10}{kernel:>14}{machine:>16}{count:>14}")
    for row in wrong:
        print("WRONG:", *row)
    print(f"bundles: {COUNT} damaged certificates of verdicts and moves, {len(wrong)} wrong; the build for browsers says the same")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
