#!/usr/bin/env python3
"""Time linear programmes of a folder as whole processes: exact answer with certificate, HiGHS, QSopt_ex.

    netlib.py FOLDER [--evenhand PROGRAM] [--check PROGRAM] [--only NAME,...] [--limit SECONDS] [-o LINES.jsonl]

FOLDER holds files *.mps or *.mps.gz, such as the Netlib collection. HiGHS runs in a Python of its own (package highspy), QSopt_ex
is `esolver`; a program that is missing is named and left out. All times are seconds of processor time. The last lines are the
ratios of docs and benches/README.md: geometric means, and how many programmes are slower than a limit.
"""

import argparse
import gzip
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
HIGHS = (
    "import highspy, sys; h = highspy.Highs(); h.setOptionValue('output_flag', False); "
    "h.setOptionValue('threads', 1); h.readModel(sys.argv[1]); h.run(); print(h.getInfo().objective_function_value)"
)


def process(limit, *arguments):
    """Return the cost of a process, as child.py prints it."""
    command = [sys.executable, os.path.join(HERE, "child.py"), str(limit), *arguments]
    return json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)


def seconds(cost):
    return None if cost is None or cost["over"] or cost["status"] != 0 else cost["cpu"]


def shown(value):
    return "-" if value is None else f"{value:.2f}"


def measure(path, call, has_highspy, has_esolver):
    name = os.path.basename(path).split(".")[0]
    with tempfile.TemporaryDirectory() as folder:
        plain = os.path.join(folder, f"{name}.mps")
        with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file, open(plain, "wb") as copy:
            shutil.copyfileobj(file, copy)
        certificate = os.path.join(folder, "certificate.json")
        solve = process(call.limit, call.evenhand, "lp", "solve", plain, "--certificate", certificate, "--quiet")
        line = {"name": name, "solve": solve, "check": None, "highs": None, "esolver": None, "certificate_mib": None}
        if os.path.exists(certificate):
            line["certificate_mib"] = round(os.path.getsize(certificate) / 2**20, 2)
            line["check"] = process(call.limit, call.check, certificate)
        if has_highspy:
            line["highs"] = process(call.limit, sys.executable, "-c", HIGHS, plain)
        if has_esolver:
            line["esolver"] = process(call.limit, "esolver", "-O", os.path.join(folder, "esolver.sol"), plain)
        return line


def ratios(lines, empty):
    def pairs(other, least):
        both = [(seconds(line["solve"]), seconds(line[other])) for line in lines]
        return [(ours, theirs) for ours, theirs in both if ours and theirs and theirs >= least]

    def mean(pairs):
        return math.exp(sum(math.log(theirs / ours) for ours, theirs in pairs) / len(pairs)) if pairs else None

    solved = [line for line in lines if seconds(line["solve"]) is not None]
    accepted = [line for line in lines if seconds(line["check"]) is not None]
    print(f"solved with certificate: {len(solved)} of {len(lines)}; accepted by the kernel: {len(accepted)}")
    highs = [(line, seconds(line["highs"])) for line in solved if seconds(line["highs"])]
    # The start of Python and of the package is no work of HiGHS.
    slow = [line["name"] for line, time in highs if seconds(line["solve"]) > 4 * max(time - empty, 0) + 1]
    print(f"slower than 4 times HiGHS plus 1 s: {', '.join(slow) or 'none'}")
    exact = pairs("esolver", 0.05)
    answered = sum(seconds(line["esolver"]) is not None for line in lines)
    print(f"QSopt_ex answered {answered} of {len(lines)}")
    if exact:
        slower = sum(ours > 2 * theirs for ours, theirs in exact)
        print(f"QSopt_ex / evenhand, from .05 s on: geometric mean {mean(exact):.2f} of {len(exact)}, {slower} with less than a half")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--evenhand", default="target/release/evenhand")
    parser.add_argument("--check", default="target/release/evenhand-check")
    parser.add_argument("--only", default="")
    parser.add_argument("--limit", type=int, default=300)
    parser.add_argument("-o", "--output")
    call = parser.parse_args()
    only = set(filter(None, call.only.split(",")))
    paths = sorted(os.path.join(call.folder, name) for name in os.listdir(call.folder) if ".mps" in name)
    paths = [path for path in paths if not only or os.path.basename(path).split(".")[0] in only]
    has_highspy = subprocess.run([sys.executable, "-c", "import highspy"], capture_output=True).returncode == 0
    has_esolver = shutil.which("esolver") is not None
    for name, is_there in (("highspy", has_highspy), ("esolver", has_esolver)):
        if not is_there:
            print(f"{name} is not installed and left out", file=sys.stderr)
    empty = process(60, sys.executable, "-c", "import highspy")["cpu"] if has_highspy else 0
    print(f"{'programme':12} {'solve':>8} {'check':>8} {'HiGHS':>8} {'QSopt_ex':>8} {'MiB':>7}")
    lines = []
    for path in paths:
        line = measure(path, call, has_highspy, has_esolver)
        lines.append(line)
        times = " ".join(f"{shown(seconds(line[of])):>8}" for of in ("solve", "check", "highs", "esolver"))
        print(f"{line['name']:12} {times} {line['certificate_mib'] or '-':>7}", flush=True)
        if call.output:
            with open(call.output, "a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
    ratios(lines, empty)


if __name__ == "__main__":
    main()
