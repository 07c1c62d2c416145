#!/usr/bin/env bash
# The main job at real size, with nothing but this repository: the 12,583 servers of the DRFH paper's
# Table I shared by eight users, solved exactly, certified, checked and compared.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
bin=${CARGO_TARGET_DIR:-target}/release
out=${CARGO_TARGET_DIR:-target}/demo
problem=examples/google-cluster.json
mkdir -p "$out"

step() { # title, then the command that is shown and run
  printf '\n== %s\n' "$1"
  shift
  printf '$ %s\n\n' "$*"
  "$bin/$1" "${@:2}"
}

step "A fair allocation, exactly (DRFH: equal weighted dominant shares)" \
  evenhand solve "$problem" --mechanism drfh --output "$out/drfh.json"
step "Which axioms does it satisfy? The evidence goes into a certificate" \
  evenhand certify "$problem" "$out/drfh.json" --output "$out/drfh.cert.json"
step "Anybody can check that certificate: this program links no solver" \
  evenhand-check "$out/drfh.cert.json" --problem "$problem"
step "Why does the cache have what it has?" \
  evenhand explain "$problem" "$out/drfh.json" --user cache
step "The same cluster under every mechanism that applies" \
  evenhand compare "$problem"
printf '\nThe files are in %s.\n' "$out"
