#!/usr/bin/env bash
# The proved checker is lied to: on the certificates of three.sh, and as many more, every number that OCaml computes for it is
# replaced in turn, and nothing may be proven then.
#
#   adversary.sh [SEEDS [EACH]]     so many certificates, and damaged ones of each (default: 4000 5)
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
