#!/usr/bin/env bash
# Certificates of random problems and golden cases, each as it was made and damaged, judged by evenhand-proof, by the kernel
# and, where it is small enough, by the plain judge of the test kit: none may contradict another. What evenhand-proof does not cover is counted by reason. The seeds are
# fixed, and docs/proof.md has to say what comes out. The program is the test kit's `damage`.
#
#   three.sh [SEEDS [EACH]]     so many certificates, and damaged ones of each (default: 2000 5)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
damage=${DAMAGE:-${CARGO_TARGET_DIR:-$PWD/../../target}/release/damage}
seeds=${1:-2000} each=${2:-5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[[ -x $damage ]] || {
  echo "three: error: there is no $damage: cargo build --release -p evenhand-testkit --features damage --bin damage" >&2
  exit 2
}
"$damage" 0 "$seeds" --each "$each" --state "$work/state.json" --keep build/contradictions \
  --proof "$PWD/build/evenhand-proof" | tee "$work/said"
# How many lines there are of a kind: `N good; kernel: accepted; proof: ...`
count() { awk -v kind="$1" 'index($0, "good; ") + index($0, "damaged; kernel: accepted; proof: accepted") && index($0, kind) { n += $1 } END { print n + 0 }' "$work/said"; }
good=$(count 'good; kernel: accepted; proof: accepted')
damaged=$(count 'damaged; kernel: accepted; proof: accepted')
uncovered=$(count 'good; kernel: accepted; proof: too large or not covered')
comes_out="both accept $good good and $damaged damaged ones; $uncovered good ones are too large or not covered"
echo "three: $comes_out"
((good * 100 >= seeds * 98)) || { echo "three: error: fewer than 98 % of the good ones are proven in full" >&2; exit 1; }
# A line of its own; with EVENHAND_WRITE_DOCS=1 it is written anew.
line="With the fixed seeds of \`three.sh\`, 12,000 certificates: $comes_out."
page=../../docs/proof.md
if [[ $seeds == 2000 && $each == 5 ]]; then
  if [[ ${EVENHAND_WRITE_DOCS:-} == 1 ]]; then
    awk -v line="$line" '/^With the fixed seeds of/ { print line; next } { print }' "$page" >"$work/page"
    cat "$work/page" >"$page"
  fi
  grep -qxF "$line" "$page" || {
    echo "three: error: docs/proof.md says otherwise (EVENHAND_WRITE_DOCS=1 writes it anew)" >&2
    exit 1
  }
fi
echo "three: no contradiction among evenhand-proof, the kernel and the plain judge"
