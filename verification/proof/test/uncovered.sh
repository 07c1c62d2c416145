#!/usr/bin/env bash
# Checks that evenhand-proof refuses claims whose evidence suffices only without groups, if groups have limits or keep capacity
# back. Also checks that the program reports certificates that are too large.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 - "$work" test/uncovered/*.json <<'EOF'
import json, pathlib, sys
for path in map(pathlib.Path, sys.argv[2:]):
    whole = json.loads(path.read_text())
    for k, claim in enumerate(whole["claims"]):
        one = {**whole, "claims": [claim], "not_checked": []}
        pathlib.Path(sys.argv[1], f"{path.stem}-{k}.json").write_text(json.dumps(one))
EOF
claims=0
for file in "$work"/*.json; do
  status=0
  said=$(build/evenhand-proof "$file" 2>&1) || status=$?
  [[ $status == 1 && $said == *"its evidence does not prove it"* ]] || {
    printf 'uncovered: error: %s must be refused with status 1, but the status is %s:\n%s\n' "${file##*/}" "$status" "$said" >&2
    exit 1
  }
  claims=$((claims + 1))
done
echo "uncovered: $claims claims whose evidence suffices only without groups, all refused"

# With exponents written out, these numbers have more digits than the reader accepts.
users=$(for n in {1..21}; do printf ',{"name": "u%s", "demand": {"r": 1}}' "$n"; done)
tasks=$(for n in {1..21}; do printf ',"u%s": {"s": "1e-100000"}' "$n"; done)
status=0
said=$(build/evenhand-proof - 2>&1 <<EOF
{"kind": "certificate", "version": 2, "problem": {"kind": "allocation-problem", "resources": ["r"],
 "servers": [{"name": "s", "capacity": {"r": 1}}], "users": [${users:1}]},
 "allocation": {"kind": "allocation", "tasks": {${tasks:1}}}, "not_checked": [],
 "claims": [{"axiom": "feasible", "holds": true, "margin": "0", "evidence": {}}]}
EOF
) || status=$?
[[ $status == 3 && $said == *"too large"* ]] || {
  printf 'uncovered: error: numbers with many digits must be too large (status 3), but the status is %s:\n%s\n' "$status" "$said" >&2
  exit 1
}
echo "uncovered: a text with two million digits is too large"

# If guarantees are only compared, the filling differs from the filling of the theorems. The trusted part of the reader has to
# detect this.
status=0
said=$(build/evenhand-proof - 2>&1 <<'EOF'
{"kind": "certificate", "version": 2, "problem": {"kind": "allocation-problem", "resources": ["r"],
 "servers": [{"name": "s", "capacity": {"r": 2}}], "groups": [{"name": "g", "guarantee": {"r": 1}}],
 "share": {"over": "guarantee", "guarantees": "compared"}, "users": [{"name": "u", "demand": {"r": 1}, "group": "g"}]},
 "allocation": {"kind": "allocation", "tasks": {"u": {"s": 2}}}, "not_checked": [],
 "claims": [{"axiom": "tree", "holds": true, "margin": "0", "evidence": {"filling": {"u": {"s": 2}}, "prices": []}}]}
EOF
) || status=$?
[[ $status == 3 && $said == *"not covered: tree"*"guarantees that are only compared with"* ]] || {
  printf 'uncovered: error: guarantees that are only compared must not be covered (status 3), but the status is %s:\n%s\n' "$status" "$said" >&2
  exit 1
}
echo "uncovered: tree with guarantees that are only compared is not covered"
