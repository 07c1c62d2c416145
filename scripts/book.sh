#!/usr/bin/env bash
# Builds the book in target/book from docs/ and from the library's own descriptions of mechanisms, axioms and papers.
# Installs mdBook into target/tools if it is missing. Writes only inside target/.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
tools=$target/tools
version=0.5.4 # the pages of this version were reviewed

say() { printf 'book: %s\n' "$*"; }
fail() {
  printf 'book: error: %s\n' "$*" >&2
  exit 1
}

if [[ $("$tools/bin/mdbook" --version 2>/dev/null) != "mdbook v$version" ]]; then
  say "installing mdbook $version into ${tools#"$root"/} (only once; about 5 minutes on two cores)"
  cargo install --quiet --locked --root "$tools" --no-default-features --features search "mdbook@$version" ||
    fail "cargo could not install mdbook $version; check the network and try again"
fi

cargo build --release ${CARGO_FLAGS:-} --manifest-path "$root/Cargo.toml" -p evenhand-book
say "auditing every mechanism and reproducing the papers: a minute or two"
"$target/release/evenhand-book" stage "$root" "$target/book-src"
rm -rf "$target/book"
said=$(MDBOOK_LOG=warn "$tools/bin/mdbook" build "$target/book-src" --dest-dir "$target/book" 2>&1) || fail "$said"
[[ -z $said ]] || fail "$said"
"$target/release/evenhand-book" links "$target/book"
say "wrote ${target#"$root"/}/book/index.html"
