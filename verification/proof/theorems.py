#!/usr/bin/env python3
"""Writes two lists of theorems between marks. The list in docs/proof.md describes groups of theorems. The list in README.md
names all theorems by file.

    theorems.py            compare the lists and report differences
    theorems.py --write    write both lists

The script fails if a theorem is in no entry of GAINS, if a named theorem does not exist, or if a list is out of date."""
import re, sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGE, README = HERE.parents[1] / "docs/proof.md", HERE / "README.md"

# Descriptions and the theorems that they describe. FILE stands for all theorems of a file that no other entry names.
# FILE.theorem stands for a single theorem.
GAINS = [
    ("Every claim that the checker accepts is true.", ["Judge", "Certificate", "Groups.group_claim_sound"]),
    ("If the checker accepts a problem, the problem is well-formed. The repair of every allocation is feasible. Accepted "
     "claims about feasibility and limits are true, for tasks on classes, for tasks on single servers and for whole tasks.",
     ["Repair", "Soundness", "Limits", "Placed.check_fits_sound", "Placed.check_single_sound",
      "Placed.check_integer_sound", "Placed.check_no_limit_sound"]),
    ("Accepted claims about sharing incentive are true. Accepted claims about work conservation are true, also for gangs "
     "on single servers, and also if groups keep capacity back.",
     ["Bundle", "Placed.check_all_wait_sound", "Placed.check_somebody_waits_sound", "Stopped"]),
    ("Accepted claims about envy-freeness and about envy-freeness up to one task are true.", ["Envy", "UpToOne"]),
    ("Accepted claims about Pareto optimality are true, also among whole tasks on single servers.", ["Prices", "WholeOptimal"]),
    ("Accepted claims about max-min fairness of every share, about the bottleneck axioms, and about `tree` without groups "
     "are true.",
     ["MaxMin", "Named", "Filled"]),
    ("Accepted claims about proportional fairness and alpha fairness within a gap are true, for every rational alpha.",
     ["Alpha", "Roots"]),
    ("If groups have limits, each limit is a row with its own price. The prices prove bounds for all allocations that exceed "
     "no limit, or exceed a limit by no more than the judged allocation.",
     ["Within"]),
    ("Accepted claims about `tree` with groups are true. The checker replays the filling to its end. The filling has at "
     "most one end.",
     ["Follow", "Process", "Turn"]),
    ("Accepted claims about no justified complaints (`njc`) and about PS-DSF are true.", ["Answered"]),
    ("Accepted claims about the limits and guarantees of groups, about group sharing incentive and about group "
     "envy-freeness are true.",
     ["Groups", "Parties"]),
    ("Time-shared PS-DSF is strategy-proof: a user whose true and declared demands are the same on all classes gains "
     "nothing by a false report. In an example, a user gains by a false demand on one class. No false report of demands "
     "gains more in this example.",
     ["Truthful", "TheoremB", "TheoremBSharp"]),
    ("Every market allocation of time-shared classes is proportionally fair. If every user has tasks and no limit on its "
     "tasks, a time-shared PS-DSF allocation is a market allocation.",
     ["Market"]),
    ("A PS-DSF allocation always exists. If the tasks on all other classes are given, exactly one allocation on a class "
     "satisfies the conditions of PS-DSF. If all classes are shared by time, a proportionally fair allocation exists.",
     ["ExistsPsDsf", "ExistsTimed", "TheoremAClasses", "TheoremA", "TheoremAWater", "Sperner", "Closure"]),
    ("The axioms within eps = 0 mean what their names say. No two certificates of one problem and allocation contradict "
     "each other.",
     ["Meaning", "Determined"]),
    ("Prices prove every true upper bound on a linear function of the feasible allocations. The function attains its "
     "maximum. A Pareto optimal allocation exists. Prices prove every Pareto optimum, and every allocation that is "
     "proportionally fair within a gap.",
     ["Duality", "Programme", "Exists"]),
    ("A max-min fair allocation exists for every defined share. The checker accepts a certificate of every max-min fair "
     "allocation.",
     ["ExistsMaxMin", "ExistsLevels"]),
    ("If every task has a positive worth, an allocation that is alpha-fair within the gap exists for every rational alpha "
     "above 0 and every gap above 0. The checker accepts a certificate of this allocation. For whole alphas, the gap 0 "
     "determines the worth that every user has. The checker accepts a certificate of every Pareto optimum.",
     ["ExistsConcave", "ExistsProportional", "ExistsFair"]),
    ("A problem with three users has no rational allocation that is proportionally fair with the gap 0. A problem with two "
     "bottlenecks has no allocation that is bottleneck-fair.",
     ["ExistsNoAnswer"]),
    ("Greedy has exactly one total reward in a reservation problem, if every type demands a resource or the configurations "
     "are listed. An accepted ratio certificate states this reward, true bounds of the optimum, and a fraction of the "
     "optimum that greedy earns at least.",
     ["ReservationTree", "ReservationOptimum", "ReservationRun", "ReservationGreedy", "ReservationRatio",
      "ReservationExists"]),
    ("Accepted worst-load certificates are true: under every load, greedy earns at least the stated fraction of the "
     "optimum on one pool. Under the stated worst load, greedy earns exactly this fraction.",
     ["ReservationWorst"]),
    ("In the fluid limit, greedy earns at least the fraction 1 - (1 - 1/J)^J of the optimum on one pool with J types, and "
     "at least half of the optimum on several pools. Examples attain both fractions.",
     ["TheoremC", "TheoremCSharp", "TheoremCPools"]),
    ("Accepted certificates of linear programmes are true: the stated point is an optimum, no point is feasible, or the "
     "objective is unbounded. These three statements exclude each other.",
     ["LinearProgramme"]),
    ("At least one of these three statements is true of every linear programme. For every linear programme, the checker "
     "accepts evidence of one of them.",
     ["LinearExists"]),
    ("Coq verifies the claims of an exported certificate by computation, without the reader and without extraction.",
     ["Literal"]),
]


def theorems():
    files = re.findall(r"^theories/(\w+)\.v$", (HERE / "_CoqProject").read_text(), re.M)
    of_file = {f: re.findall(r"^ *Theorem ([\w']+)", (HERE / f"theories/{f}.v").read_text(), re.M) for f in files}
    return {f: names for f, names in of_file.items() if names}


def by_gain(all_):
    named = {item for _, items in GAINS for item in items if "." in item}
    left = {f"{f}.{name}" for f, names in all_.items() for name in names}
    rows = []
    for gain, items in GAINS:
        parts = []
        for item in items:
            file, _, one = item.partition(".")
            names = [one] if one else [n for n in all_.get(file, []) if f"{file}.{n}" not in named]
            for name in names:
                if f"{file}.{name}" not in left:
                    sys.exit(f"theorems: error: {file}.{name} is listed twice or does not exist; correct GAINS")
                left.remove(f"{file}.{name}")
            if not names:
                sys.exit(f"theorems: error: {file} has no theorem; correct GAINS")
            # The list names single theorems, but not the remaining theorems of a file.
            shown = [f"`{one}`"] if one else []
            if parts and parts[-1][0] == file:
                parts[-1][1].extend(shown)
            else:
                parts.append((file, shown))
        part = lambda file, names: f"`{file}.v`" + (f" ({', '.join(names)})" if names else "")
        rows.append("- " + ", ".join(part(file, names) for file, names in parts) + f": {gain}")
    if left:
        sys.exit("theorems: error: GAINS in theorems.py has no entry for " + ", ".join(sorted(left)))
    return "\n".join(rows)


def by_file(all_):
    return "\n".join(f"- `{file}.v`: " + ", ".join(f"`{name}`" for name in names) for file, names in sorted(all_.items()))


def main():
    all_ = theorems()
    bad = False
    for path, text in [(PAGE, by_gain(all_)), (README, by_file(all_))]:
        old = path.read_text()
        new, n = re.subn(r"(<!-- theorems -->\n).*?(\n<!-- end of theorems -->)", lambda m: m[1] + text + m[2], old, flags=re.S)
        if n != 1:
            sys.exit(f"theorems: error: {path.name} has no marks for the list; add the two marks")
        if "--write" in sys.argv[1:]:
            path.write_text(new)
        elif new != old:
            print(f"theorems: error: {path.name} has an outdated list of theorems; run theorems.py --write", file=sys.stderr)
            bad = True
    if bad:
        sys.exit(1)
    print(f"theorems: {sum(map(len, all_.values()))} theorems in {len(all_)} files, all listed by what a reader gains")


main()
