#!/usr/bin/env bash
# Runs the main workflow at real size, with the files of this repository only: eight users share the 12,583 servers of
# the DRFH paper's Table I. The allocation is solved exactly, certified, checked and compared.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
bin=${CARGO_TARGET_DIR:-target}/release
out=${CARGO_TARGET_DIR:-target}/demo
problem=examples/google-cluster.json
mkdir -p "$out"

step() { # title, then the command to print and run
  printf '\n== %s\n' "$1"
  shift
  printf '$ %s\n\n' "$*"
  "$bin/$1" "${@:2}"
}

step "Compute an exact fair allocation (DRFH: equal weighted dominant shares)" \
  evenhand solve "$problem" --mechanism drfh --output "$out/drfh.json"
step "Which axioms does it satisfy? The certificate stores the evidence" \
  evenhand certify "$problem" "$out/drfh.json" --output "$out/drfh.cert.json"
step "Check the certificate with an independent program that links no solver" \
  evenhand-check "$out/drfh.cert.json" --problem "$problem"
step "Why does the user cache get this many tasks?" \
  evenhand explain "$problem" "$out/drfh.json" --user cache
step "Compare all mechanisms that apply on the same cluster" \
  evenhand compare "$problem"
printf '\nThe files are in %s.\n' "$out"
