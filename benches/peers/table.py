#!/usr/bin/env python3
"""Print the lines of results.jsonl as a table: table.py RESULTS"""

import json
import sys


def cells(line):
    result = line.get("objective", line.get("margin", line.get("status", "")))
    return [
        str(line["users"]),
        line["peer"],
        line.get("mode", "envy"),
        f"{line['median'] * 1e3:.1f}",
        f"{min(line['seconds']) * 1e3:.1f}",
        f"{line['cpu_median'] * 1e3:.1f}",
        str(len(line["seconds"])),
        str(line["peak_mib"]),
        str(line.get("rounds", line.get("steps", line.get("evaluations", "")))),
        f"{result:.12g}" if isinstance(result, float) else str(result),
    ]


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    head = ["users", "peer", "question", "median ms", "least ms", "CPU ms", "runs", "MiB", "steps", "level / margin / status"]
    table = [head] + [cells(line) for line in lines]
    widths = [max(map(len, column)) for column in zip(*table)]
    for row in table:
        left = {1, 2, 9}
        print("  ".join(c.ljust(w) if i in left else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths))).rstrip())
    if lines:
        loads = [line["load"] for line in lines]
        print(f"load average during the runs: {min(loads):g} to {max(loads):g}")


if __name__ == "__main__":
    main()
