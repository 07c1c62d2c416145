#!/usr/bin/env bash
# Gives false numbers to the proved checker. The certificates are those of three.sh and as many others. Every number that OCaml
# computes for the checker is replaced in turn. The checker must not prove a claim from a replaced number.
#
#   adversary.sh [SEEDS [EACH]]     the number of certificates, and of damaged copies of each (default: 4000 5)
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
