#!/usr/bin/env bash
# Packages every crate that may be published, as a registry would get it: target/package/NAME-VERSION.crate.
# Arguments go to `cargo package`, for instance --allow-dirty.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
out=${CARGO_TARGET_DIR:-$root/target}/package

say() { printf 'package: %s\n' "$*"; }
fail() {
  printf 'package: error: %s\n' "$*" >&2
  exit 1
}

# Those that say `publish = false` are for this workspace alone.
mapfile -t crates < <(cargo metadata --no-deps --format-version 1 |
  python3 -c 'import json, sys; print(*(p["name"] for p in json.load(sys.stdin)["packages"] if p["publish"] != []), sep="\n")')
((${#crates[@]})) || fail "the workspace has no crate to publish"

rm -rf "$out"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Without --no-verify each would be compiled once more; `make test-packages` compiles what a user does.
cargo package --no-verify ${CARGO_FLAGS:-} "$@" "${crates[@]/#/--package=}" >"$log" 2>&1 || {
  cat "$log" >&2
  fail "cargo could not package the crates"
}
for crate in "${crates[@]}"; do
  package=("$out/$crate"-[0-9]*.crate)
  held=$(tar -tzf "${package[0]}")
  for file in LICENSE-MIT LICENSE-APACHE README.md; do
    grep -q "^[^/]*/$file\$" <<<"$held" || fail "${package[0]##*/} holds no $file"
  done
done
rm -rf "$out"/tmp-*
say "wrote ${#crates[@]} crates to ${out#"$root"/}, $(du -k --total "$out"/*.crate | tail -n 1 | cut -f1) KiB"
