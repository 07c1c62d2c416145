#!/usr/bin/env bash
# Packages every crate that may be published as target/package/NAME-VERSION.crate, the file that a registry gets.
# Arguments are passed to `cargo package`, for example --allow-dirty.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
out=${CARGO_TARGET_DIR:-$root/target}/package

say() { printf 'package: %s\n' "$*"; }
fail() {
  printf 'package: error: %s\n' "$*" >&2
  exit 1
}

# Crates with `publish = false` are for this workspace only.
mapfile -t crates < <(cargo metadata --no-deps --format-version 1 |
  python3 -c 'import json, sys; print(*(p["name"] for p in json.load(sys.stdin)["packages"] if p["publish"] != []), sep="\n")')
((${#crates[@]})) || fail "the workspace has no crate to publish: every Cargo.toml has publish = false"

rm -rf "$out"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Without --no-verify, cargo would compile each crate again. `make test-packages` compiles the packages as a user would.
cargo package --no-verify ${CARGO_FLAGS:-} "$@" "${crates[@]/#/--package=}" >"$log" 2>&1 || {
  cat "$log" >&2
  fail "cargo could not package the crates, see above"
}
for crate in "${crates[@]}"; do
  package=("$out/$crate"-[0-9]*.crate)
  held=$(tar -tzf "${package[0]}")
  for file in LICENSE-MIT LICENSE-APACHE README.md; do
    grep -q "^[^/]*/$file\$" <<<"$held" || fail "${package[0]##*/} contains no $file: check 'include' in its Cargo.toml"
  done
done
rm -rf "$out"/tmp-*
say "wrote ${#crates[@]} crates to ${out#"$root"/}, $(du -k --total "$out"/*.crate | tail -n 1 | cut -f1) KiB"
