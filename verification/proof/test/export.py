#!/usr/bin/env python3
"""Compiles the files that `evenhand export --to coq` writes.

The two examples of the README are solved, certified, exported and compiled by coqc. Coq has to report that every theorem is
closed under the global context. If one number is changed, the file must not compile. Then every accepted certificate of the
test kit, and certificates of random problems are exported. Each file must compile, or the export must be refused with the name
of a claim.

    export.py [FROM TO]     seeds of the random problems (default: 0 12)
"""
import json, random, re, subprocess, sys
from concurrent.futures import ThreadPoolExecutor
from agreement import ALL, EVENHAND, HERE, KIT, ROOT, WORK, certified, random_problem, run

SEEDS = range(*map(int, sys.argv[1:3])) if len(sys.argv) > 2 else range(12)
THEORIES = HERE.parent / "theories"
EXAMPLES = [("two-servers", "drfh"), ("google-cluster", "drfh")]
DAMAGED = 12
TIMEOUT = 120  # seconds of coqc; a file takes one or two
# The message of a refused export, if the proved checker does not cover a claim
REFUSALS = re.compile(r"the claim `[^`]+` has no theorem: ")


def fail(what):
    sys.exit(f"export: error: {what}")


def exported(name, certificate):
    """Returns the Coq source, or None if the export is refused and names a claim."""
    path, out = WORK / "certificate.json", WORK / f"{name}.v"
    path.write_text(certificate, encoding="utf-8")
    status, said = run(EVENHAND, "export", path, "--to", "coq", "-o", out)
    if status != 0:
        return None if REFUSALS.search(said) else fail(f"{name}: {said}")
    return out.read_text()


def compiled(name, text):
    """Returns whether coqc accepts a file, and its output."""
    path = WORK / f"{name}.v"
    path.write_text(text)
    try:
        status, said = run("coqc", "-q", "-Q", THEORIES, "Evenhand", path, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        fail(f"{name} takes more than {TIMEOUT} s")
    return status == 0, said


def theorems(text):
    return re.findall(r"^Theorem (\w+)", text, re.M)


def closed(name, text):
    """Checks that the file compiles without assumptions, and returns the number of its theorems."""
    names = theorems(text)
    ok, said = compiled(name, text + "".join(f"Print Assumptions {theorem}.\n" for theorem in names))
    if not ok or said.count("Closed under the global context") != len(names):
        fail(f"{name} is not proved:\n{said}")
    return len(names)


def damaged(text, rng):
    """Yields copies of the text with one changed number: in the allocation, a capacity, a margin or the prices."""
    lines = re.compile(r"Definition the_allocation .*?\.\n|  capacity := .*?;|the_tolerance \(?-?\d.*?\.\n|"
                       r"Pareto \(row .*?\.\n", re.S)
    spans = [(part.start() + m.start(), part.start() + m.end()) for part in lines.finditer(text)
             for m in re.finditer(r"(?<![\w.])\d+(?!\w|%)", text[part.start():part.end()])]
    for start, end in rng.sample(spans, min(DAMAGED, len(spans))):
        yield text[:start] + str(int(text[start:end]) + 1) + text[end:]


def main():
    rng = random.Random(0)
    proved = 0
    with ThreadPoolExecutor(2) as pool:
        for example, mechanism in EXAMPLES:
            problem = json.loads((ROOT / f"examples/{example}.json").read_text())
            name = example.replace("-", "_")
            ((_, certificate),) = certified(example, problem, [mechanism], "example")
            text = exported(name, certificate)
            if text is None:
                fail(f"{example} is refused")
            proved += closed(name, text)
            variants = [(f"{name}_damaged_{k}", wrong) for k, wrong in enumerate(damaged(text, rng))]
            for (variant, wrong), (ok, _) in zip(variants, pool.map(lambda v: compiled(*v), variants)):
                if ok:
                    fail(f"{variant} compiles:\n{wrong}")
            print(f"export: {example}: {len(theorems(text))} theorems, closed; with a number changed {len(variants)} of "
                  f"{len(variants)} do not compile")
        certificates = [(path.stem, path.read_text()) for path in sorted((KIT / "accept").glob("*.json"))]
        for seed in SEEDS:
            mechanism = random.Random(seed).choice(["drfh", "ps-dsf", "njc", "proportional", "ps-dsf-tdm"])
            certificates += certified(f"random {seed}", random_problem(seed), [mechanism], "random", axioms=ALL)
        files, refused = [], 0
        for k, (name, certificate) in enumerate(certificates):
            text = exported(f"certificate_{k}", certificate)
            if text is None:
                refused += 1
            else:
                files.append((name, f"certificate_{k}", text))
        for (name, _, text), (ok, said) in zip(files, pool.map(lambda f: compiled(*f[1:]), files)):
            if not ok:
                fail(f"{name} does not compile:\n{said}")
            proved += len(theorems(text))
    print(f"export: {len(files)} certificates compile, {refused} are refused by a claim that is named; {proved} theorems in all")


main()
