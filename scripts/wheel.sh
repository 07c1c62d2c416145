#!/usr/bin/env bash
# Makes the wheel of Python in target/wheels: the module, both programs, licence texts and the list of what is in it.
# maturin is installed into target/python/tools where it is not there; nothing outside target/ and the folders of
# bindings/python that git ignores is written.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
tools=$target/python/tools
bindings=$root/bindings/python

say() { printf 'wheel: %s\n' "$*"; }
fail() {
  printf 'wheel: error: %s\n' "$*" >&2
  exit 1
}

python=${PYTHON:-python3}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null || fail "'$python' is no Python of 3.9 or later: name one by PYTHON"
if ! "$tools/bin/maturin" --version >/dev/null 2>&1; then
  say "installs maturin into ${tools#"$root"/}"
  "$python" -m venv "$tools" || fail "$python makes no virtual environment (Debian: apt-get install python3-venv)"
  "$tools/bin/python" -m pip install --quiet --disable-pip-version-check 'maturin>=1.9,<2' || fail "pip could not install maturin (no network?)"
fi

say "compiles both programs and the module"
export PYO3_PYTHON=$tools/bin/python
# The times of what is packed, if nothing else is said: of the commit.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct 2>/dev/null || echo 315532800)}
export SOURCE_DATE_EPOCH

"$root/scripts/build.sh" cargo build --release ${CARGO_FLAGS:-} --manifest-path "$root/Cargo.toml" -p evenhand -p evenhand-check

rm -rf "$bindings/evenhand._evenhand.data"
mkdir -p "$bindings/evenhand._evenhand.data/scripts" "$bindings/sbom"
cp "$target/release/evenhand" "$target/release/evenhand-check" "$bindings/evenhand._evenhand.data/scripts/"
"$tools/bin/python" "$root/scripts/wheel-contents.py" "$bindings/licences" "$bindings/sbom/evenhand.cdx.json"

rm -rf "$target/wheels"
mkdir -p "$target/wheels"
(cd "$bindings" && "$tools/bin/maturin" build --quiet --release ${CARGO_FLAGS:-} \
  --sbom-include sbom/evenhand.cdx.json --target-dir "$target" --out "$target/wheels")
for wheel in "$target"/wheels/*.whl; do
  say "wrote ${wheel#"$root"/}, $(du -k "$wheel" | cut -f1) KiB"
done
