#!/usr/bin/env python3
"""Compares evenhand-proof with evenhand-check.

The certificates are the accepted, rejected and malformed certificates of the test kit, the certificates that `evenhand
certify` writes about the examples, the golden cases and random problems, and damaged copies. evenhand-proof must not prove a
certificate that the kernel refuses. It must prove a certificate that the kernel accepts, or report it as not covered. Every
other difference is listed.

    agreement.py [FROM TO]     seeds of the random problems (default: 0 60)

EVENHAND and EVENHAND_CHECK name the binaries (default: those in target/release).
"""
import copy, json, os, random, re, subprocess, sys, tempfile, unicodedata
from collections import Counter
from fractions import Fraction
from pathlib import Path

import both

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
PROOF = HERE.parent / "build" / "evenhand-proof"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
CHECK = os.environ.get("EVENHAND_CHECK", TARGET / "evenhand-check")
EVENHAND = os.environ.get("EVENHAND", TARGET / "evenhand")
KIT = ROOT / "crates/testkit/certificates/allocation"
SEEDS = range(*map(int, sys.argv[1:3])) if len(sys.argv) > 2 else range(60)
WORK = Path(tempfile.mkdtemp(prefix="agreement-"))

counts, listed, wrong = Counter(), Counter(), []
#: The build for browsers must give the same answers.
browser = both.Browser()


def run(*command, timeout=None):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, errors="replace", timeout=timeout)
    return done.returncode, done.stdout + done.stderr


def compare(name, text, kind):
    path = WORK / "certificate.json"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    options = ["--max-tolerance", "0.9"]
    if re.search(r'"sharing"\s*:\s*"tdm"', text):
        options += ["--sharing", "tdm"]
    a, said_a = run(CHECK, path, *options)
    b, said_b = run(PROOF, path, *options)
    counts[kind, a, b] += 1
    c, lines = browser.judge(path.read_bytes(), "tdm" if "tdm" in options else "-", "0.9")
    said_c = b"".join(line + b"\n" for line in lines).decode(errors="replace")
    if (b, said_b) != (c, said_c):
        wrong.append((kind, name, b, c, said_b.strip().split("\n")[-1], "in a browser: " + said_c.strip().split("\n")[-1]))
    why = re.search(r"not covered: .*", said_b)
    why = re.sub(r"`[^`]*`", "`...`", why.group(0)) if why else said_b.strip().split("\n")[0][:100]
    if b not in (0, 1, 2, 3) or (b == 0 and a != 0) or (a == 0 and b in (1, 2)):
        wrong.append((kind, name, a, b, said_a.strip().split("\n")[0], said_b.strip().split("\n")[-1]))
        keep = Path(os.environ.get("AGREEMENT_KEEP", WORK)) / f"wrong-{len(wrong)}.json"
        keep.write_text(text, encoding="utf-8", errors="surrogatepass")
    elif a != b:
        listed[kind, a, b, why] += 1
    return a, b


# --- the certificates of the test kit ---------------------------------------------------------

def step(here, word):
    if isinstance(here, list):
        for i, claim in enumerate(here):
            if isinstance(claim, dict) and claim.get("axiom") == word:
                return i
        return int(word)
    return word


def apply(document, patch):
    path = [word for word in patch[0].split("/") if word]
    here = document
    for word in path[:-1]:
        here = here[step(here, word)]
    if len(patch) == 3:
        source = document
        for word in patch[2].split("/"):
            source = source[step(source, word)]
        here.insert(int(path[-1]), copy.deepcopy(source))
    elif len(patch) == 1:
        del here[step(here, path[-1])]
    else:
        here[step(here, path[-1])] = patch[1]


def fixtures():
    for path in sorted((KIT / "accept").glob("*.json")):
        yield "accept", path.stem, path.read_text()
    for kind in ("reject", "malformed", "unread"):
        for name, base, patches, _ in json.loads((KIT / f"{kind}.json").read_text()):
            document = json.loads((KIT / "accept" / f"{base}.json").read_text())
            for patch in patches:
                apply(document, patch)
            yield kind, name, json.dumps(document)
    good = (KIT / "accept" / "figure-1-drfh.json").read_text()
    before, after = good.split('"version":', 1)
    for name, text in [("empty", ""), ("list", "[]"), ("truncated", good[: len(good) // 2]),
                       ("duplicate key", before + '"version": 2, "version":' + after),
                       ("too deep", before + '"version": ' + "[" * 5000), ("comment", "/* */" + good),
                       ("trailing", good + "{}"), ("bare name", good.replace('"kind"', "kind", 1)),
                       ("version 1", before + '"version": 1' + after[after.index(","):])]:
        yield "malformed", name, text


# --- new certificates ---------------------------------------------------------------------------

def number(value):
    return value if isinstance(value, str) else str(Fraction(str(value)))


def golden():
    for case in json.loads((ROOT / "crates/testkit/golden/cases.json").read_text()):
        given = case["inputs"]
        try:
            if "r" in given and "e" in given:
                r, e = given["r"], given["e"]
                resources = [f"r{j}" for j in range(len(r[0]))]
                users = [{"name": f"u{n}", "weight": number(w), "tasks": 1,
                          "demand": {q: number(d) for q, d in zip(resources, row)}}
                         for n, (row, w) in enumerate(zip(r, e))]
                servers = [{"name": "pool", "capacity": {q: 1 for q in resources}}]
            elif "C" in given and "D" in given:
                resources = [f"r{j}" for j in range(len(given["C"][0]))]
                servers = [{"name": f"s{i}", "capacity": {q: number(c) for q, c in zip(resources, row)}}
                           for i, row in enumerate(given["C"])]
                users = [{"name": f"u{n}", "demand": {q: number(d) for q, d in zip(resources, row)}}
                         for n, row in enumerate(given["D"])]
                for n, user in enumerate(users):
                    if given.get("phi"):
                        user["weight"] = number(given["phi"][n])
                    if given.get("eligible"):
                        user["servers"] = [f"s{i}" for i, can in enumerate(given["eligible"][n]) if can]
            else:
                continue
        except (TypeError, ValueError, KeyError, IndexError):
            continue
        yield case["id"], {"kind": "allocation-problem", "name": case["id"], "resources": resources,
                           "servers": servers, "users": users}


def random_problem(seed):
    rng = random.Random(seed)
    m, k, n = rng.randint(1, 3), rng.randint(1, 3), rng.randint(1, 5)
    resources = [f"r{j}" for j in range(m)]
    def amounts(low):
        drawn = {q: rng.randint(low, 9) for q in resources}
        return drawn if any(drawn.values()) else {resources[0]: 1}
    servers = [{"name": f"s{i}", "count": rng.choice([1, 1, 3]), "capacity": amounts(0 if rng.random() < .2 else 1)}
               for i in range(k)]
    users = []
    for u in range(n):
        user = {"name": f"u{u}", "weight": rng.choice([1, 1, 2, "1/3"]), "demand": amounts(0)}
        if rng.random() < .4:
            user["tasks"] = rng.choice([0, 1, 2, "7/2", 40])
        if rng.random() < .3:
            user["servers"] = sorted(rng.sample([s["name"] for s in servers], rng.randint(1, k)))
        if rng.random() < .2:
            user["demand_on"] = {"s0": amounts(0)}
        if rng.random() < .15:
            user["gamma"] = {"s0": rng.choice([1, "5/2"])}
        if rng.random() < .3:
            user["criterion"] = {s["name"]: rng.randint(1, 4) for s in servers}
        users.append(user)
    return {"kind": "allocation-problem", "name": f"random {seed}", "resources": resources, "servers": servers,
            "users": users}


def in_groups(problem, rng):
    """Returns the problem with some of its users in groups that have guarantees and limits."""
    problem = copy.deepcopy(problem)
    def amounts(low, high, chance):
        return {r: rng.randint(low, high) for r in problem["resources"] if rng.random() < chance}
    classes, groups = [server["name"] for server in problem["servers"]], []
    for v in range(rng.randint(1, 4)):
        group = {"name": f"g{v}", "weight": rng.choice([0, 1, 1, 2, "1/2"])}
        if v and rng.random() < .5:
            group["parent"] = f"g{rng.randrange(v)}"
        if rng.random() < .6:
            group["guarantee"] = amounts(0, 6, .7)
        if rng.random() < .5:
            promised = group.get("guarantee", {})
            group["limit"] = {r: q + promised.get(r, 0) for r, q in amounts(0, 9, .7).items()}
        if rng.random() < .3:
            some = rng.sample(classes, rng.randint(1, len(classes)))
            group["on"] = [{"servers": some, "limit": amounts(0, 6, .7)}]
        if rng.random() < .4:
            group["lend"] = amounts(0, 4, .6)
        if rng.random() < .3:
            group["priority"] = rng.randint(-2, 2)
        groups.append(group)
    problem["groups"] = groups
    if rng.random() < .2 and len(classes) > 1:
        # The key consists of several names, separated by commas and surrounded by spaces.
        space = lambda: rng.choice(["", " ", "  ", "\t", "\n"])
        groups[0]["on"] = {",".join(space() + name + space() for name in classes): {"limit": amounts(0, 6, .7)}}
    if rng.random() < .5:
        problem["share"] = {"zero-weight": rng.choice(["last", "never"]), "of": rng.choice(["usage", "surplus"])}
    is_timed = rng.random() < .15
    for user in problem["users"]:
        if not is_timed:
            user.pop("gamma", None)
        if rng.random() < .7:
            user.pop("demand_on", None)
        if rng.random() < .85:
            user["group"] = rng.choice(groups)["name"]
        if rng.random() < .2:
            user["gang"] = rng.randint(1, 3)
    return problem


#: The characters of each Unicode category
CHARACTERS = {}
for code in [*range(0x3100), *range(0xa000, 0xd800), *range(0xe000, 0x10ffff, 7), *range(0xfe00, 0x10000), *range(0xe0000, 0xe0200)]:
    CHARACTERS.setdefault(unicodedata.category(chr(code)), []).append(chr(code))


def unicode_name(rng):
    """Returns a short name with characters of any category: also spaces, controls, marks, and unassigned code points."""
    drawn = [rng.choice(CHARACTERS[rng.choice(sorted(CHARACTERS))]) for _ in range(rng.randint(1, 4))]
    if rng.random() < .3:
        drawn.insert(rng.randrange(len(drawn) + 1), rng.choice([",", " ", "\u00a0", "\u3000", "\"", "\\", "\ufeff", "\ufe0f"]))
    return "".join(drawn)


def renamed(problem, rng):
    """Returns the problem with other names, each made of arbitrary characters."""
    old = [*problem["resources"], *(of["name"] for key in ("servers", "users", "groups") for of in problem.get(key, []))]
    new = {}
    for name in old:
        drawn = unicode_name(rng)
        while drawn in new.values():
            drawn += unicode_name(rng)
        new[name] = drawn
    def key(text):
        # In a key of several classes, each name is replaced and the spaces around each name are kept.
        parts = [re.sub(r"[rsug]\d+", lambda found: new[found.group(0)], part) for part in text.split(",")]
        return ",".join(parts) if re.fullmatch(r"[\s,rsug\d]+", text) and re.search(r"[rsug]\d", text) else text
    def walk(value):
        if isinstance(value, dict):
            return {new.get(name, key(name)): walk(inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [walk(inner) for inner in value]
        return new.get(value, value) if isinstance(value, str) else value
    return {**walk(problem), "name": unicode_name(rng)}, new


def placed(problem, rng):
    """Gives gangs to some users, and places whole tasks on single servers as long as the servers have free capacity.

    Returns the problem and the allocation.
    """
    problem = copy.deepcopy(problem)
    for user in problem["users"]:
        user.pop("gamma", None)
        if rng.random() < .7:
            user["gang"] = rng.randint(2, 5)
    left = {user["name"]: Fraction(str(user.get("tasks", 100))) for user in problem["users"]}
    placements = []
    for server in problem["servers"]:
        for index in range(server.get("count", 1)):
            free, tasks = {r: Fraction(str(q)) for r, q in server["capacity"].items()}, {}
            for _ in range(rng.randint(0, 3) if problem["users"] else 0):
                user = rng.choice(problem["users"])
                name, demand = user["name"], user.get("demand_on", {}).get(server["name"], user["demand"])
                may = server["name"] in user.get("servers", [server["name"]]) and left[name] >= 1
                if may and all(Fraction(str(q)) <= free.get(r, 0) for r, q in demand.items()):
                    free = {r: q - Fraction(str(demand.get(r, 0))) for r, q in free.items()}
                    left[name] -= 1
                    tasks[name] = tasks.get(name, 0) + 1
            if tasks:
                placements.append({"server": server["name"], "index": index, "tasks": tasks})
    return problem, {"placements": placements, "arithmetic": "exact"}


ALL = ["feasible", "non-wasteful", "work-conserving", "pareto-optimal", "envy-free", "ef1", "sharing-incentive",
       "integer-feasible", "integer-pareto-optimal", "bottleneck-fair", "global-bottleneck-fair",
       "single-resource-fair", "max-min:drfh", "max-min:tsf", "max-min:cdrf", "max-min:asset", "max-min:generic",
       "njc", "ps-dsf", "proportional", "proportional:2"]


def certified(name, problem, mechanisms, kind, more=(), axioms=()):
    path, allocation, certificate = WORK / "problem.json", WORK / "allocation.json", WORK / "new.json"
    path.write_text(json.dumps(problem))
    allocations = []
    for mechanism in mechanisms:
        if run(EVENHAND, "solve", path, "--mechanism", *mechanism.split(), "-o", allocation, "--quiet")[0] == 0:
            allocations.append((mechanism, allocation.read_text()))
    allocations += [("stated", json.dumps({"kind": "allocation", **document})) for document in more]
    for mechanism, text in allocations:
        allocation.write_text(text)
        for axioms_ in ([], list(axioms)):
            asked = [word for axiom in axioms_ for word in ("--axiom", axiom)]
            run(EVENHAND, "certify", path, allocation, "-o", certificate, "--quiet", *asked)
            if certificate.exists():
                written = certificate.read_text()
                certificate.unlink()
                yield f"{name} {mechanism}", written
            if not axioms:
                break


def damaged(text, rng):
    """Returns the certificate with one number changed, one field dropped, or one verdict reversed."""
    document = json.loads(text)
    if rng.random() < .1 and document.get("claims"):
        # The claim becomes a claim that holds because no user is active, or a claim that does not apply.
        claim = rng.choice(document["claims"])
        for field in ("evidence", "why", "margin"):
            claim.pop(field, None)
        claim["holds"], claim["margin"] = rng.choice([True, True, None]), None
        if claim["holds"] is None:
            claim["why"] = "it does not apply"
        return json.dumps(document)
    places = []
    def walk(value, path):
        items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, inner in items:
            places.append((value, key))
            walk(inner, path + [key])
    for field in ("claims", "claims", "allocation", "tolerance", "problem"):
        if field in document:
            if isinstance(document[field], str):
                places.append((document, field))
            else:
                walk(document[field], [field])
    for _ in range(20):
        holder, key = rng.choice(places)
        value = holder[key]
        if isinstance(value, bool):
            holder[key] = not value
        elif isinstance(value, (str, int)) and re.fullmatch(r"-?\d+(/\d+)?", str(value)):
            q = Fraction(str(value))
            holder[key] = str(rng.choice([q + Fraction(1, 7), q - Fraction(1, 10**9), -q, q * 2, Fraction(0)]))
        elif isinstance(value, (dict, list)) and len(holder) > 1 and rng.random() < .5:
            del holder[key]
        elif isinstance(value, str) and rng.random() < .5:
            other = rng.choice(places)
            if not isinstance(other[0][other[1]], str):
                continue
            holder[key] = other[0][other[1]]
        else:
            continue
        return json.dumps(document)
    return text


def main():
    for program in (PROOF, CHECK):
        if not Path(program).exists():
            sys.exit(f"agreement: error: {program} is missing; build it with: make build, make -C verification/proof")
    for kind, name, text in fixtures():
        compare(name, text, kind)
    if Path(EVENHAND).exists():
        rng = random.Random(SEEDS.start)
        share = ["drfh", "tsf", "ps-dsf", "ps-dsf-tdm", "njc", "proportional", "utilitarian", "drfh --float",
                 "generic", "asset", "fill --score drf --server first-fit --ties low"]
        new = []
        new += certified("two servers", json.loads((ROOT / "examples/two-servers.json").read_text()), share, "example", axioms=ALL)
        queues = [json.loads((ROOT / f"examples/{name}.json").read_text()) for name in ("queues", "queues-promised")]
        now = json.loads((ROOT / "examples/queues-now.json").read_text())
        groups = [axiom for axiom in ALL if not axiom.startswith("max-min:generic")] + [
            "limits", "guarantees", "group-sharing-incentive", "group-envy-free", "tree"]
        for k, queue in enumerate(queues):
            new += certified(f"queues {k}", queue, ["tree"], "example", [{"tasks": now["tasks"]}], axioms=groups)
        new += certified("google", json.loads((ROOT / "examples/google-cluster.json").read_text()), ["drfh", "ps-dsf"], "example")
        for name, problem in golden():
            new += certified(name, problem, ["drfh", "njc", "ps-dsf"], "golden")
        for case in json.loads((ROOT / "crates/testkit/golden/tree.json").read_text()):
            new += certified(case["id"], case["problem"], ["tree"], "golden", axioms=groups)
        for seed in SEEDS:
            problem = random_problem(seed)
            rng_here = random.Random(seed)
            if rng_here.random() < .1:
                # No user is active.
                problem["users"] = [] if rng_here.random() < .3 else [{**user, "tasks": 0} for user in problem["users"]]
            stated = {"tasks": {u["name"]: {s["name"]: f"{rng_here.randint(-1, 6)}/{rng_here.randint(1, 4)}"
                                           for s in problem["servers"] if rng_here.random() < .6}
                                for u in problem["users"]}}
            small = {"tasks": {u["name"]: {s["name"]: "1/50" for s in problem["servers"] if rng_here.random() < .8}
                               for u in problem["users"]}, "sharing": rng_here.choice(["rdm", "tdm"])}
            picked = rng_here.sample(share, 3)
            new += certified(f"random {seed}", problem, picked, "random", [stated, small], axioms=ALL)
            grouped = in_groups(problem, rng_here)
            if rng_here.random() < .4:
                grouped, named = renamed(grouped, rng_here)
                in_new = lambda tasks: {named[user]: {named[server]: x for server, x in row.items()} for user, row in tasks.items()}
                stated, small = ({**of, "tasks": in_new(of["tasks"])} for of in (stated, small))
            new += certified(f"groups {seed}", grouped, ["tree"], "random", [stated, small],
                             axioms=["feasible", "limits", "guarantees", "work-conserving", "tree",
                                     "group-sharing-incentive", "group-envy-free", "pareto-optimal", "integer-pareto-optimal",
                                     "bottleneck-fair", "single-resource-fair", "max-min:drfh", "max-min:tsf", "proportional",
                                     "proportional:3/2"])
            for kind, of in ("gangs", problem), ("gangs in groups", grouped):
                with_gangs, tasks = placed(of, rng_here)
                new += certified(f"{kind} {seed}", with_gangs, [], "random", [tasks],
                                 axioms=["feasible", "integer-feasible", "work-conserving"])
        for name, text in new:
            a, _ = compare(name, text, "new")
            for _ in range(2):
                compare(name + ", damaged", damaged(text, rng), "damaged")
    else:
        print(f"agreement: {EVENHAND} is missing: only the certificates of the test kit are compared")
    print("what                evenhand-check  evenhand-proof  certificates")
    for (kind, a, b), count in sorted(counts.items()):
        print(f"{kind:20}{a:>14}{b:>16}{count:>14}")
    for (kind, a, b, why), count in sorted(listed.items()):
        print(f"differs: {kind}, {a} and {b}: {count} times: {why}")
    for row in wrong:
        print("WRONG:", *row)
    proven = sum(count for (_, a, b), count in counts.items() if b == 0)
    print(f"agreement: {sum(counts.values())} certificates, {proven} proven in full, {len(wrong)} wrong; the build for browsers prints the same")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
