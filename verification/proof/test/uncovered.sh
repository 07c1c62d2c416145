#!/usr/bin/env bash
# Claims that the theorems are not about, with evidence that would do without groups: none is proven, and it is said. One
# that holds only where groups hold nothing back is refused.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
claims=0
for file in test/uncovered/limited.json; do
  status=0
  said=$(build/evenhand-proof "$file" 2>&1) || status=$?
  of_file=$(grep -c '"holds"' "$file")
  uncovered=$(grep -c '^not covered: ' <<<"$said" || true)
  [[ $status == 3 && $uncovered == "$of_file" ]] || {
    printf 'uncovered: error: %s: status %s\n%s\n' "$file" "$status" "$said" >&2
    exit 1
  }
  claims=$((claims + of_file))
done
status=0
said=$(build/evenhand-proof test/uncovered/held_back.json 2>&1) || status=$?
[[ $status == 1 ]] || {
  printf 'uncovered: error: held_back.json: status %s\n%s\n' "$status" "$said" >&2
  exit 1
}
echo "uncovered: $claims claims about groups with limits, none proven; one refused"

# Numbers of more digits than are computed with, exponents written out.
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
  printf 'uncovered: error: wide numbers: status %s\n%s\n' "$status" "$said" >&2
  exit 1
}
echo "uncovered: two million digits are too large"
