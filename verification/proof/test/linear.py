#!/usr/bin/env python3
"""Compares evenhand-proof with evenhand-check on certificates of linear programmes, intact and damaged.

`evenhand lp solve` writes certificates of random small programmes: programmes with an optimum, without a feasible point, and
with an unbounded objective. Each certificate is damaged in many ways: in numbers, signs, names, directions, the status, the hash
and bounds, by dropped or doubled entries, and by text that is not JSON. Most damaged programmes get their correct hash, so that
the programs read the proofs. Both programs and the build for browsers must end with the same status on every text. Then both
programs are run with the same options.

    linear.py [PROGRAMMES [DAMAGED]]     the number of programmes, and of damaged certificates for each (default: 200 20)

EVENHAND and EVENHAND_CHECK name the binaries (default: those in target/release).
"""
import copy, hashlib, json, os, random, re, subprocess, sys, tempfile
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
PROGRAMMES, DAMAGED = (int(n) for n in (sys.argv[1:] + ["200", "20"][len(sys.argv) - 1:])[:2])
WORK = Path(tempfile.mkdtemp(prefix="linear-"))
STATUSES = ("optimal", "infeasible", "unbounded")

class Batch:
    """A process of evenhand-proof that judges one text after another."""

    def __init__(self):
        self.process = subprocess.Popen([str(PROOF), "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def judge(self, text):
        """Returns the exit status and the printed lines as bytes."""
        self.process.stdin.write(b"%d -\n" % len(text) + text)
        self.process.stdin.flush()
        first, *lines = self.process.stdout.readline().rstrip(b"\n").split(b"\t")
        return int(first.split(b" ")[0]), lines


batch, browser = Batch(), both.Browser()
counts, wrong = Counter(), []


def run(program, *arguments):
    done = subprocess.run([str(program), *map(str, arguments)], capture_output=True, text=True, errors="replace")
    return done.returncode, done.stdout + done.stderr


def first_line(said):
    return said.split("\n")[0][:100]


# --- random programmes ----------------------------------------------------------------------------

def number(rng, high=6):
    value = Fraction(rng.randint(-high, high), rng.choice([1, 1, 1, 2, 3, 7]))
    return rng.choice([str(value), value.numerator if value.denominator == 1 else str(value)])


def bounds(rng):
    """Returns bounds of a row or a column. Rarely, the lower bound is above the upper bound."""
    low, high = sorted((number(rng), number(rng)), key=Fraction)
    if rng.random() < .03:
        low, high = high, low
    return rng.choice([{}, {"lower": low}, {"lower": 0}, {"upper": high}, {"lower": low, "upper": high}, {"lower": low, "upper": low}])


def names(rng, prefix, count):
    odd = ["a \"b\"", "\\", "tab\t", "line\n", "é", "ключ", "\u0001", "\u007f", "𝛼", "\u200b", " ", "Z", "/", "\ufffd", "\ue000"]
    drawn = rng.sample(odd, count) if rng.random() < .3 else [f"{prefix}{k}" for k in range(count)]
    rng.shuffle(drawn)
    return drawn


def programme(rng):
    rows = [{"name": name, **bounds(rng)} for name in names(rng, "r", rng.randint(0, 4))]
    columns = []
    for name in names(rng, "x", rng.randint(0, 5)):
        column = {"name": name, **bounds(rng)}
        if rng.random() < .8:
            column["cost"] = number(rng)
        if rng.random() < .1:
            column["integer"] = True
        column["entries"] = {row["name"]: number(rng) for row in rows if rng.random() < .7}
        columns.append(column)
    result = {"kind": "linear-programme", "direction": rng.choice(["minimise", "maximise"]), "rows": rows, "columns": columns}
    if rng.random() < .5:
        result["name"] = "programme"
    if rng.random() < .3:
        result["constant"] = number(rng)
    return result


def hash_of(programme):
    """Returns the hash that docs/linear-programmes.md defines."""
    sign = -1 if programme["direction"] == "maximise" else 1
    quoted = lambda text: json.dumps(text, ensure_ascii=False)
    ends = lambda of: " ".join(str(Fraction(str(of[end]))) if end in of else "-" for end in ("lower", "upper"))
    by_name = lambda list_: sorted(list_, key=lambda of: of["name"].encode())
    lines = [f"linear-programme {sign * Fraction(str(programme.get('constant', 0)))}"]
    lines += [f"row {quoted(row['name'])} {ends(row)}" for row in by_name(programme["rows"])]
    for column in by_name(programme["columns"]):
        entries = sorted(column.get("entries", {}).items(), key=lambda entry: entry[0].encode())
        shown = "".join(f" {quoted(row)} {Fraction(str(value))}" for row, value in entries if Fraction(str(value)) != 0)
        cost = sign * Fraction(str(column.get("cost", 0)))
        lines.append(f"column {quoted(column['name'])} {cost} {ends(column)}{' integer' if column.get('integer') else ''}{shown}")
    return hashlib.sha256(("\n".join(lines) + "\n").encode()).hexdigest()


# --- damage -----------------------------------------------------------------------------------------

ODD = ["x", "", "1/0", "0/1", "1/2/3", "1.5/2", "1e3", "1e500", "1E-2", "-1e400", "+1", "--1", "1.", ".5", "0x10", " 1", "1 ", "٣", "1e", "1e+1",
       "-0", "00012", "1_000", "inf", "NaN", "9" * 401, "1." + "0" * 400, "1e-401", None, True, [], {}, [1], {"a": 1}, 1.5, -0.0, 1e300, 7, -2]


def places(document, path=()):
    """Yields the path to every value of a document."""
    yield path
    items = document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    for key, value in items:
        yield from places(value, (*path, key))


def at(document, path):
    for key in path:
        document = document[key]
    return document


def is_number(value):
    return not isinstance(value, bool) and (isinstance(value, int) or
                                            (isinstance(value, str) and re.fullmatch(r"-?\d+(/\d+)?", value) is not None))


def other_number(rng, value):
    value = Fraction(str(value))
    return str(rng.choice([value + 1, value - 1, -value, 2 * value, value / 3, value + Fraction(1, 10**30), Fraction(0), 1 / (value or 7)]))


def change_number(rng, document):
    path = rng.choice([path for path in places(document) if path and is_number(at(document, path)) and path[0] != "version"])
    at(document, path[:-1])[path[-1]] = other_number(rng, at(document, path))


def change_proof(rng, document):
    """Changes a number of the proof, but not the programme."""
    paths = [path for path in places(document) if path and path[0] in ("objective", "x", "y", "ray") and is_number(at(document, path))]
    if paths:
        path = rng.choice(paths)
        at(document, path[:-1])[path[-1]] = other_number(rng, at(document, path))
    else:
        change_status(rng, document)


def odd_value(rng, document):
    path = rng.choice([path for path in places(document) if path])
    at(document, path[:-1])[path[-1]] = copy.deepcopy(rng.choice(ODD))


def drop(rng, document):
    path = rng.choice([path for path in places(document) if path])
    del at(document, path[:-1])[path[-1]]


def drop_field(rng, document):
    del document[rng.choice(sorted(document))]


def double(rng, document):
    paths = [path for path in places(document) if isinstance(at(document, path), list) and at(document, path)]
    if paths:
        list_ = at(document, rng.choice(paths))
        list_.insert(rng.randint(0, len(list_)), copy.deepcopy(rng.choice(list_)))


def change_bounds(rng, document):
    every = document["programme"]["rows"] + document["programme"]["columns"]
    if not every:
        return
    one = rng.choice(every)
    kind = rng.random()
    if kind < .3:
        one.pop(rng.choice(["lower", "upper"]), None)
    elif kind < .5:
        one["lower"], one["upper"] = one.get("upper", 0), one.get("lower", 0)
    else:
        one[rng.choice(["lower", "upper"])] = number(rng)


def change_status(rng, document):
    document["status"] = rng.choice([*STATUSES, "limit", "", None])
    if rng.random() < .5:
        columns, rows = ([of["name"] for of in document["programme"][key]] for key in ("columns", "rows"))
        for field, all_ in (("x", columns), ("y", rows), ("ray", columns)):
            document.setdefault(field, {name: number(rng) for name in all_ if rng.random() < .5})


def change_empty(rng, document):
    names = {"row": document["programme"]["rows"], "column": document["programme"]["columns"]}
    some = lambda kind: rng.choice([of["name"] for of in names[kind]] + ["nobody"])
    document["status"] = "infeasible"
    document["empty"] = rng.choice([{}, {"row": some("row")}, {"column": some("column")}, {"row": some("row"), "column": some("column")},
                                    {"row": None}, {"rows": "r0"}, None, [], "r0"])


def change_name(rng, document):
    """Renames a row or a column in one place."""
    keyed = [path for path in places(document) if path and path[-2:-1] and path[-2] in ("x", "y", "ray", "entries")]
    named = [path for path in places(document) if path and path[-1] in ("name", "row", "column") and isinstance(at(document, path), str)]
    new = rng.choice(["r0", "x0", "x1", "nobody", "", "R0", "r0 ", "é"])
    if keyed and rng.random() < .6:
        path = rng.choice(keyed)
        of = at(document, path[:-1])
        value = of.pop(path[-1])
        of[new] = value
    elif named:
        path = rng.choice(named)
        at(document, path[:-1])[path[-1]] = new


def change_hash(rng, document):
    stated = document["sha256"]
    document["sha256"] = rng.choice([stated.upper(), stated[1:], stated + "0", "0" * 64, "", stated[::-1], None, 7,
                                     ("1" if stated[0] == "0" else "0") + stated[1:], " " + stated])


def change_words(rng, document):
    field, words = rng.choice([("direction", ["minimise", "maximise", "minimize", "", None]), ("kind", ["linear-programme", "lp", None]),
                               ("name", ["", "another", None, 3]), ("constant", ["1", 0, "x", None])])
    document["programme"][field] = rng.choice(words)


def change_head(rng, document):
    field, values = rng.choice([("version", [1, "1", 1.0, "2/2", 2, 0, "x", None]), ("kind", ["certificate", "lp-certificates", None])])
    document[field] = rng.choice(values)


def add_field(rng, document):
    dicts = [path for path in places(document) if isinstance(at(document, path), dict)]
    at(document, rng.choice(dicts))[rng.choice(["more", "x", "y", "ray", "empty", "name", "upper", "integer", "$schema"])] = rng.choice(
        [{}, 1, "1", True, None, {"row": "r0"}])


def reorder(rng, document):
    """Reorders rows, columns and fields, which does not change the meaning."""
    programme = document["programme"]
    rng.shuffle(programme["rows"]), rng.shuffle(programme["columns"])
    for field in ("x", "y", "ray"):
        if field in document:
            document[field] = dict(rng.sample(sorted(document[field].items()), len(document[field])))


def scale(rng, document):
    """Multiplies numbers of the proof by a factor, or states zeros. Some of these certificates remain true."""
    factor = rng.choice([Fraction(2), Fraction(1, 3), Fraction(-1), Fraction(0), Fraction(10) ** 40])
    for field in rng.sample(["x", "y", "ray"], rng.randint(1, 3)):
        if isinstance(document.get(field), dict):
            document[field] = {name: str(factor * Fraction(str(value))) for name, value in document[field].items()}
    if rng.random() < .3 and "y" in document:
        for row in document["programme"]["rows"]:
            document["y"].setdefault(row["name"], 0)


def move(rng, document):
    """Moves the point by a unit, or along the ray, which keeps the point feasible."""
    if "x" not in document or not document["programme"]["columns"]:
        return change_number(rng, document)
    step = document.get("ray") or {rng.choice(document["programme"]["columns"])["name"]: 1}
    for name, value in step.items():
        document["x"][name] = str(Fraction(str(document["x"].get(name, 0))) + rng.randint(1, 9) * Fraction(str(value)))


def reverse(rng, document):
    """States the opposite objective in the opposite direction. The minimised programme and the hash stay the same."""
    programme = document["programme"]
    programme["direction"] = "minimise" if programme["direction"] == "maximise" else "maximise"
    for column in programme["columns"]:
        column["cost"] = str(-Fraction(str(column.get("cost", 0))))
    programme["constant"] = str(-Fraction(str(programme.get("constant", 0))))
    if "objective" in document and rng.random() < .8:
        document["objective"] = str(-Fraction(str(document["objective"])))


DAMAGE = [change_number, change_number, change_proof, change_proof, change_proof, odd_value, drop, drop_field, double,
          change_bounds, change_bounds, change_status, change_empty, change_name, change_hash, change_words, change_head, add_field, reorder,
          scale, scale, move, reverse]


def damaged_text(rng, text):
    """Damages the text of a certificate. Some results are not JSON."""
    k = rng.randrange(len(text))
    return rng.choice([
        text[:k], text[:k] + text[k + 1:], text[:k] + rng.choice("{}[]\",:0-e\\\x00\n") + text[k:], text + "{}", text + " \n", "/* */" + text,
        text.replace('"version":', '"version":1,"version":', 1), text.replace('"status":', '"status":"optimal","status":', 1),
        re.sub(r'"([^"\\]+)":"(-?\d+)"', r'"\1":"\2","\1":"\2"', text, count=1), text.replace('"kind"', "kind", 1),
        text.replace(",", ",,", 1), text.replace("}", ",}", 1), text.replace("1", "01", 1), text.replace('"', '"\\ud800', 1),
        re.sub(r'"(-?\d+)"', r"\1", text)])


def damaged(rng, whole):
    document = copy.deepcopy(whole)
    if rng.random() < .1:
        return damaged_text(rng, json.dumps(document, separators=(",", ":"), ensure_ascii=rng.random() < .5))
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        try:
            rng.choice(DAMAGE)(rng, document)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError, ZeroDivisionError):
            pass  # An earlier damage has removed the field that this damage changes.
    if rng.random() < .7 and isinstance(document.get("sha256"), str):
        try:
            document["sha256"] = hash_of(document["programme"])
        except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError):
            pass  # A malformed programme has no hash.
    return json.dumps(document, ensure_ascii=rng.random() < .5)


# --- comparison ---------------------------------------------------------------------------------------

def compare(kind, text):
    """Judges a text by both programs and the build for browsers, and returns the status of evenhand-check."""
    path = WORK / "certificate.json"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    kernel, said_kernel = run(CHECK, path)
    machine, lines = batch.judge(path.read_bytes())
    said = b"\n".join(lines).decode(errors="replace")
    counts[kind, kernel, machine] += 1
    hashes = [re.findall(r"^programme sha256 (\w+)", words, re.M) for words in (said_kernel, said)]
    same_hash = (kernel, machine) != (0, 0) or hashes[0] == hashes[1] != []
    page = browser.judge(path.read_bytes())
    if kernel != machine or not same_hash or page != (machine, lines):
        wrong.append((kind, kernel, machine, page[0], first_line(said_kernel), first_line(said)))
        keep = Path(os.environ.get("LINEAR_KEEP", WORK)) / f"wrong-{len(wrong)}.json"
        keep.write_text(text, encoding="utf-8", errors="surrogatepass")
    return kernel


def ask(path, arguments, expected):
    """Runs both programs with the same options, and checks that both end with the expected status."""
    (kernel, said_kernel), (machine, said) = run(CHECK, path, *arguments), run(PROOF, path, *arguments)
    counts["options", kernel, machine] += 1
    if not kernel == machine == expected:
        wrong.append(("options", arguments, kernel, machine, expected, first_line(said_kernel), first_line(said)))


def written(name, document):
    path = WORK / name
    path.write_text(json.dumps(document))
    return path


def ask_options(rng, certificate):
    path, own = written("whole.json", certificate), certificate["programme"]
    turned = copy.deepcopy({"programme": own})
    reorder(rng, turned), reverse(rng, turned)
    another = {**own, "constant": str(Fraction(str(own.get("constant", 0))) + 1)}
    ask(path, ["--problem", written("own.json", own)], 0)
    ask(path, [f"--problem={written('turned.json', turned['programme'])}"], 0)
    ask(path, ["--problem", written("another.json", another)], 1)
    ask(path, ["--problem", path], 2)
    ask(path, ["--problem", written("list.json", [])], 2)
    ask(path, ["--problem", WORK / "missing.json"], 2)
    for status in STATUSES:
        ask(path, ["--require", status], 0 if certificate["status"] == status else 1)
    ask(path, ["--require", certificate["status"], "--require", "envy-free"], 2)
    ask(path, ["--require", certificate["status"], "--problem", WORK / "another.json"], 1)
    for option in (["--allocation", path], ["--sharing", "rdm"], ["--max-tolerance", "0"]):
        ask(path, option, 2)


def main():
    rng, seen = random.Random(1), Counter()
    for seed in range(PROGRAMMES):
        source, path = WORK / "programme.json", WORK / "solved.json"
        path.unlink(missing_ok=True)
        source.write_text(json.dumps(programme(rng)))
        _, said = run(EVENHAND, "lp", "solve", source, "--certificate", path)
        if not path.exists():
            wrong.append(("no certificate", seed, first_line(said)))
            continue
        text = path.read_text()
        whole = json.loads(text)
        if whole["sha256"] != hash_of(whole["programme"]):
            wrong.append(("hash", seed))
        if compare("intact", text) != 0:
            wrong.append(("intact", seed, "is refused"))
        seen["empty bounds" if "empty" in whole else whole["status"]] += 1
        for _ in range(DAMAGED):
            compare("damaged", damaged(rng, whole))
        if seed % 10 == 0:
            ask_options(rng, whole)
    print("what      evenhand-check  evenhand-proof  certificates")
    for (kind, kernel, machine), count in sorted(counts.items()):
        print(f"{kind:10}{kernel:>14}{machine:>16}{count:>14}")
    for row in wrong:
        print("WRONG:", *row)
    unseen = [kind for kind in (*STATUSES, "empty bounds") if not seen[kind]] if PROGRAMMES >= 100 else []
    if unseen:
        print("WRONG: no programme is", *unseen)
    print(f"linear: certificates of {', '.join(f'{count} {kind}' for kind, count in sorted(seen.items()))}; {sum(counts.values())} "
          f"judgements, {len(wrong)} wrong; the build for browsers says the same")
    sys.exit(1 if wrong or unseen or not seen else 0)


if __name__ == "__main__":
    main()
