#!/usr/bin/env python3
"""Runs both builds of evenhand-proof: the build in machine code, and the build for browsers (build/js/proof.js) in Node. Both
builds must print the same lines and end with the same status.

    both.py CERTIFICATE...     judge these files, with the default options
    both.py --batch            act as `evenhand-proof --batch` for `damage --proof`; end with status 1 if the builds differ
"""
import os, subprocess, sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROOF = HERE.parent / "build" / "evenhand-proof"
BROWSER = HERE.parent / "build" / "js" / "proof.js"
#: The default of --max-tolerance.
TOLERANCE = "1/1000000"


class Browser:
    """The build for browsers. It judges one text after another."""

    def __init__(self):
        command = ["node", str(HERE / "serve.js"), str(BROWSER)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def judge(self, text, sharing="-", tolerance=TOLERANCE):
        """Returns the exit status and the printed lines as bytes."""
        self.process.stdin.write(b"%d %s %s\n" % (len(text), sharing.encode(), tolerance.encode()) + text)
        self.process.stdin.flush()
        status, *lines = self.process.stdout.readline().rstrip(b"\n").split(b"\t")
        return int(status), lines


def native(text):
    """Returns the exit status and the lines of the program in machine code, with error messages at the end."""
    done = subprocess.run([str(PROOF), "-"], input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.returncode, (done.stdout + done.stderr).split(b"\n")[:-1]


def differ(name, one, other):
    print(f"both: error: the builds give different answers to {name}\n  machine code: {one}\n  browser: {other}", file=sys.stderr)


def batch(browser):
    process = subprocess.Popen([str(PROOF), "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    texts = faults = 0
    while head := sys.stdin.buffer.readline():
        size, sharing = head.split()
        text = sys.stdin.buffer.read(int(size))
        process.stdin.write(head + text)
        process.stdin.flush()
        answer = process.stdout.readline()
        first, *lines = answer.rstrip(b"\n").split(b"\t")
        one = int(first.split(b" ")[0]), lines
        # A page accepts tolerances below 1.
        other = browser.judge(text, sharing.decode(), f"{10**30 - 1}/{10**30}")
        texts += 1
        if one != other:
            faults += 1
            differ(f"text {texts}", one, other)
            keep = os.environ.get("BOTH_KEEP")
            if keep:
                Path(keep, f"both-{texts}.json").write_bytes(text)
            answer = b"9 machine code and browser differ\n"
        sys.stdout.buffer.write(answer)
        sys.stdout.buffer.flush()
    print(f"both: {texts} texts, {faults} differences", file=sys.stderr)
    return faults


def main():
    browser = Browser()
    if sys.argv[1:] == ["--batch"]:
        sys.exit(1 if batch(browser) else 0)
    faults = 0
    for name in sys.argv[1:]:
        text = Path(name).read_bytes()
        one, other = native(text), browser.judge(text)
        if one != other:
            faults += 1
            differ(name, one, other)
    print(f"both: {len(sys.argv) - 1} certificates, {faults} differences between machine code and the build for browsers")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
