#!/usr/bin/env bash
# Lies to the proved checker. On the certificates of three.sh and as many others, every number that OCaml computes for it is
# replaced in turn, and nothing may be proven from the replaced number.
#
#   adversary.sh [SEEDS [EACH]]     the numbers of certificates, and of damaged ones for each (default: 4000 5)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
damage=${DAMAGE:-${CARGO_TARGET_DIR:-$PWD/../../target}/release/damage}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$damage" 0 "${1:-4000}" --each "${2:-5}" --state "$work/state.json" --keep "$work/kept" --proof "$PWD/build/adversary" \
  >"$work/said" || {
  cat "$work/said" >&2
  exit 1
}
