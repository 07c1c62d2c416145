#!/usr/bin/env python3
"""Time linear programmes of a folder as whole processes: exact answer with certificate, HiGHS, QSopt_ex, SoPlex.

    netlib.py FOLDER [--evenhand PROGRAM] [--check PROGRAM] [--only NAME,...] [--limit SECONDS] [--contradict] [-o LINES.jsonl]

FOLDER holds files *.mps or *.mps.gz, such as the Netlib collection. HiGHS runs in a Python of its own (package highspy), QSopt_ex
is `esolver`, and SoPlex is `soplex` with its exact settings (--solvemode=2, tolerances of 0). A program that is missing is named
and left out. All times are seconds of processor time. The last lines are the ratios of docs and benches/README.md: geometric
means, and how many programmes are slower than a limit.

If LINES.jsonl is there already, its programmes are not measured again.

With --contradict each programme that has an optimum is also solved with one more row: the costs must be below the optimum by
a thousandth of it, and by at least 1/1000. Such a programme is infeasible, and has to get a certificate that says so.
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
from fractions import Fraction

HERE = os.path.dirname(os.path.abspath(__file__))
HIGHS = (
    "import highspy, sys; h = highspy.Highs(); h.setOptionValue('output_flag', False); "
    "h.setOptionValue('threads', 1); h.readModel(sys.argv[1]); h.run(); print(h.getInfo().objective_function_value)"
)


# SoPlex 8: rational answers by iterative refinement and rational factors.
SOPLEX = ("-c0", "-f0", "-o0", "--readmode=1", "--solvemode=2")


def process(limit, *arguments):
    """Return the cost of a process, as child.py prints it."""
    command = [sys.executable, os.path.join(HERE, "child.py"), str(limit), *arguments]
    return json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)


def seconds(cost):
    return None if cost is None or cost["over"] or cost["status"] != 0 else cost["cpu"]


def shown(value):
    return "-" if value is None else f"{value:.2f}"


def contradiction(certificate):
    """Return the programme of an optimal certificate, with a row that its optimum excludes, or None for another status."""
    with open(certificate, encoding="utf-8") as file:
        document = json.load(file)
    if document["status"] != "optimal":
        return None
    programme = document["programme"]
    constant = Fraction(programme.get("constant", 0))
    costs = Fraction(document["objective"]) - constant
    step = max(abs(costs), 1) / 1000
    maximise = programme.get("direction") == "maximise"
    # Numbers in the programme may have at most 400 digits. The nearest double is still on the side of the contradiction.
    side = {"lower": repr(float(costs + step))} if maximise else {"upper": repr(float(costs - step))}
    programme["rows"].append({"name": "contradiction", **side})
    for column in programme["columns"]:
        if Fraction(column.get("cost", 0)) != 0:
            column.setdefault("entries", {})["contradiction"] = column["cost"]
    return programme


def measure(path, call, has):
    name = os.path.basename(path).split(".")[0]
    with tempfile.TemporaryDirectory() as folder:
        plain = os.path.join(folder, f"{name}.mps")
        with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file, open(plain, "wb") as copy:
            shutil.copyfileobj(file, copy)
        certificate = os.path.join(folder, "certificate.json")
        solve = process(call.limit, call.evenhand, "lp", "solve", plain, "--certificate", certificate, "--quiet")
        line = {"name": name, "solve": solve, "check": None, "highs": None, "esolver": None, "soplex": None}
        line |= {"certificate_mib": None, "contradiction": None, "refuted": None}
        if os.path.exists(certificate):
            line["certificate_mib"] = round(os.path.getsize(certificate) / 2**20, 2)
            line["check"] = process(call.limit, call.check, certificate)
            worse = contradiction(certificate) if call.contradict else None
            if worse:
                contradictory, proof = os.path.join(folder, "contradiction.json"), os.path.join(folder, "proof.json")
                with open(contradictory, "w", encoding="utf-8") as file:
                    json.dump(worse, file)
                solve = (call.evenhand, "lp", "solve", contradictory, "--certificate", proof, "--quiet")
                line["contradiction"] = process(call.limit, *solve)
                if os.path.exists(proof):
                    with open(proof, encoding="utf-8") as file:
                        status = json.load(file)["status"]
                    line["refuted"] = status == "infeasible" and seconds(process(call.limit, call.check, proof)) is not None
        if "highspy" in has:
            line["highs"] = process(call.limit, sys.executable, "-c", HIGHS, plain)
        if "esolver" in has:
            line["esolver"] = process(call.limit, "esolver", "-O", os.path.join(folder, "esolver.sol"), plain)
        if "soplex" in has:
            line["soplex"] = process(call.limit, "soplex", *SOPLEX, plain)
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
    # The start of Python and of the package does not count as time of HiGHS.
    slow = [line["name"] for line, time in highs if seconds(line["solve"]) > 4 * max(time - empty, 0) + 1]
    print(f"slower than 4 times HiGHS plus 1 s: {', '.join(slow) or 'none'}")
    for key, name in (("esolver", "QSopt_ex"), ("soplex", "SoPlex")):
        exact = pairs(key, 0.05)
        answered = sum(seconds(line[key]) is not None for line in lines)
        print(f"{name} ended by itself on {answered} of {len(lines)}")
        if exact:
            slower = sum(ours > 2 * theirs for ours, theirs in exact)
            print(f"{name} / evenhand, from .05 s on: geometric mean {mean(exact):.2f} of {len(exact)}, {slower} with less than a half")
    contradictory = [line for line in lines if line["contradiction"]]
    if contradictory:
        refuted = [line for line in contradictory if line["refuted"]]
        print(f"with a contradiction: {len(refuted)} of {len(contradictory)} have a certificate of infeasibility that the kernel accepts")
        for line in contradictory:
            if not line["refuted"]:
                print(f"    not {line['name']}: {line['contradiction']['complaint']}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--evenhand", default="target/release/evenhand")
    parser.add_argument("--check", default="target/release/evenhand-check")
    parser.add_argument("--only", default="")
    parser.add_argument("--limit", type=int, default=300)
    parser.add_argument("--contradict", action="store_true")
    parser.add_argument("-o", "--output")
    call = parser.parse_args()
    # Exact optima have thousands of digits.
    sys.set_int_max_str_digits(0)
    only = set(filter(None, call.only.split(",")))
    paths = sorted(os.path.join(call.folder, name) for name in os.listdir(call.folder) if ".mps" in name)
    paths = [path for path in paths if not only or os.path.basename(path).split(".")[0] in only]
    has = {name for name in ("esolver", "soplex") if shutil.which(name)}
    if subprocess.run([sys.executable, "-c", "import highspy"], capture_output=True).returncode == 0:
        has.add("highspy")
    for name in sorted({"highspy", "esolver", "soplex"} - has):
        print(f"{name} is not installed and left out", file=sys.stderr)
    empty = process(60, sys.executable, "-c", "import highspy")["cpu"] if "highspy" in has else 0
    header = ("solve", "check", "HiGHS", "QSopt_ex", "SoPlex", "MiB", "refute")
    print(f"{'programme':12} " + " ".join(f"{title:>8}" for title in header))
    lines = []
    if call.output and os.path.exists(call.output):
        with open(call.output, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
    measured = {line["name"] for line in lines}
    for path in paths:
        if os.path.basename(path).split(".")[0] in measured:
            continue
        line = measure(path, call, has)
        lines.append(line)
        times = " ".join(f"{shown(seconds(line[of])):>8}" for of in ("solve", "check", "highs", "esolver", "soplex"))
        refuted = shown(seconds(line["contradiction"])) if line["refuted"] else "-"
        print(f"{line['name']:12} {times} {line['certificate_mib'] or '-':>8} {refuted:>8}", flush=True)
        if call.output:
            with open(call.output, "a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
    ratios(lines, empty)


if __name__ == "__main__":
    main()
