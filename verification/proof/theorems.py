#!/usr/bin/env python3
"""Writes two lists between marks: in docs/proof.md the files of all theorems, by what a reader gains from them; in README.md
all theorems, by file.

    theorems.py            compare the lists, and report what is missing
    theorems.py --write    write both lists

It is an error if a theorem is in no entry of GAINS, if a named theorem does not exist, or if a list is out of date."""
import re, sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGE, README = HERE.parents[1] / "docs/proof.md", HERE / "README.md"

# The gain of a reader, and the files with these theorems: FILE for all theorems of a file, FILE.theorem for a single one.
GAINS = [
    ("A certificate that is accepted is true", ["Judge", "Certificate", "Groups.group_claim_sound"]),
    ("Feasibility and limits are as stated, after the repair",
     ["Repair", "Soundness", "Limits", "Placed.check_fits_sound", "Placed.check_single_sound", "Placed.check_integer_sound",
      "Placed.check_no_limit_sound"]),
    ("Nothing that somebody could run is left; everybody has its part", ["Bundle", "Placed.check_all_wait_sound", "Placed.check_somebody_waits_sound", "Stopped"]),
    ("Nobody envies another", ["Envy", "UpToOne"]),
    ("Nobody can have more without loss", ["Prices", "WholeOptimal"]),
    ("Nobody can rise: max-min of every share, the bottleneck axioms, `tree` without groups", ["MaxMin", "Named", "Filled"]),
    ("Proportional and alpha fairness within a gap, for any rational alpha", ["Alpha", "Roots"]),
    ("Where groups have limits: these are rows, with prices of their own", ["Within"]),
    ("`tree` with groups: the filling is followed to its end, and has only one", ["Follow", "Process", "Turn"]),
    ("No justified complaints, PS-DSF", ["Answered"]),
    ("Groups keep limits and promises, and are compared", ["Groups", "Parties"]),
    ("Strategy-proofness of time-shared PS-DSF (no lie pays), and how far lies by class go", ["Truthful", "TheoremB", "TheoremBSharp"]),
    ("Time-shared PS-DSF is a market, and proportionally fair", ["Market"]),
    ("PS-DSF always has an answer; on one class, given the others, it is the only one", ["ExistsPsDsf", "ExistsTimed", "TheoremAClasses", "TheoremA", "TheoremAWater", "Sperner", "Closure"]),
    ("The axioms mean what they are called; no two certificates contradict each other", ["Meaning", "Determined"]),
    ("Prices always exist, and optima are attained", ["Duality", "Programme", "Exists"]),
    ("Max-min fair allocations always exist, and every one has a certificate", ["ExistsMaxMin", "ExistsLevels"]),
    ("For every alpha and gap an allocation is that fair, with a certificate", ["ExistsConcave", "ExistsProportional", "ExistsFair"]),
    ("What may have no answer: the gap 0, in rationals; fairness of two bottlenecks", ["ExistsNoAnswer"]),
    ("Greedy's reward and the optimum of a reservation problem", ["ReservationTree", "ReservationOptimum", "ReservationRun", "ReservationGreedy", "ReservationRatio", "ReservationExists"]),
    ("The worst load: no load is worse than stated, and one is as bad", ["ReservationWorst"]),
    ("What greedy guarantees, and that no more is true", ["TheoremC", "TheoremCSharp", "TheoremCPools"]),
    ("A linear programme: an optimum, no feasible point, or an objective without bound", ["LinearProgramme"]),
    ("Every linear programme has one of these three answers, with evidence that the checker accepts", ["LinearExists"]),
    ("A certificate is a theorem of Coq by itself", ["Literal"]),
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
                    sys.exit(f"theorems: error: {file}.{name} is listed twice, or not there")
                left.remove(f"{file}.{name}")
            if not names:
                sys.exit(f"theorems: error: there is no theorem in {file}")
            # The remaining theorems of a file are not named.
            shown = [f"`{one}`"] if one else []
            if parts and parts[-1][0] == file:
                parts[-1][1].extend(shown)
            else:
                parts.append((file, shown))
        part = lambda file, names: f"`{file}.v`" + (f" ({', '.join(names)})" if names else "")
        rows.append("- " + ", ".join(part(file, names) for file, names in parts) + f": {gain}")
    if left:
        sys.exit("theorems: error: no line of theorems.py is about " + ", ".join(sorted(left)))
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
            sys.exit(f"theorems: error: {path.name} has no place for them")
        if "--write" in sys.argv[1:]:
            path.write_text(new)
        elif new != old:
            print(f"theorems: error: {path.name} does not list what is proved (theorems.py --write)", file=sys.stderr)
            bad = True
    if bad:
        sys.exit(1)
    print(f"theorems: {sum(map(len, all_.values()))} theorems in {len(all_)} files, all listed by what a reader gains")


main()
