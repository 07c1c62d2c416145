#!/usr/bin/env bash
# Certificates of random problems and golden cases, each as it was made and damaged, judged by evenhand-proof, by the kernel
# and by `exact`: none may contradict another. What evenhand-proof does not cover is counted by reason. The seeds are
# fixed; the program is the test kit's `damage`.
#
#   three.sh [SEEDS [EACH]]     so many certificates, and damaged ones of each (default: 2000 5)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
damage=${DAMAGE:-${CARGO_TARGET_DIR:-$PWD/../../target}/release/damage}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[[ -x $damage ]] || {
  echo "three: error: there is no $damage: cargo build --release -p evenhand-testkit --features damage --bin damage" >&2
  exit 2
}
"$damage" 0 "${1:-2000}" --each "${2:-5}" --state "$work/state.json" --keep build/contradictions \
  --proof "$PWD/build/evenhand-proof"
echo "three: no contradiction among evenhand-proof, the kernel and exact"
