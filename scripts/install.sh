#!/usr/bin/env bash
# Installs the build of `make build`: both programs, the manual pages, and the completions for bash, zsh and fish.
#
#   scripts/install.sh [PREFIX]     PREFIX is ~/.local by default; for packages, DESTDIR is put before it
#   PROGRAMS=FOLDER scripts/install.sh ...  takes the programs from FOLDER instead of target/release
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
programs=${PROGRAMS:-${CARGO_TARGET_DIR:-$root/target}/release}
prefix=${1:-$HOME/.local}
if [[ $prefix != /* ]]; then prefix=$PWD/$prefix; fi
there=${DESTDIR:-}$prefix

say() { printf 'install: %s\n' "$*"; }
fail() {
  printf 'install: error: %s\n' "$*" >&2
  exit 1
}

for program in evenhand evenhand-check; do
  [[ -x $programs/$program ]] || fail "$programs/$program does not exist: run 'make build' first"
done

# All files are made before the first is installed.
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
mkdir -p "$made/bin" "$made/share/man/man1" "$made/share/bash-completion/completions" \
  "$made/share/zsh/site-functions" "$made/share/fish/vendor_completions.d"
cp "$programs/evenhand" "$programs/evenhand-check" "$made/bin/"
"$programs/evenhand" man --output "$made/share/man/man1" >/dev/null
"$programs/evenhand" completions bash >"$made/share/bash-completion/completions/evenhand"
"$programs/evenhand" completions zsh >"$made/share/zsh/site-functions/_evenhand"
"$programs/evenhand" completions fish >"$made/share/fish/vendor_completions.d/evenhand.fish"

mkdir -p "$there" 2>/dev/null && [[ -w $there ]] || fail "$there cannot be written to: choose another folder with PREFIX=FOLDER"
while IFS= read -r file; do
  mode=644
  if [[ $file == bin/* ]]; then mode=755; fi
  mkdir -p "$there/${file%/*}"
  # A running program is replaced by a rename, because its file cannot be overwritten.
  install -m "$mode" "$made/$file" "$there/$file.new"
  mv -f "$there/$file.new" "$there/$file"
done < <(cd "$made" && find . -type f -printf '%P\n' | LC_ALL=C sort)

say "installed programs in $there/bin, manual pages in $there/share/man, completions in $there/share"
if [[ -z ${DESTDIR:-} && :$PATH: != *:$prefix/bin:* ]]; then
  say "$prefix/bin is not on the PATH: run export PATH=\"$prefix/bin:\$PATH\""
fi
