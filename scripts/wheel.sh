#!/usr/bin/env bash
# Makes the Python wheel in target/wheels: the module, both programs, licence texts and the list of components.
# Installs maturin into target/python/tools if it is missing. Writes only inside target/ and the folders of
# bindings/python that git ignores.
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
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null || fail "'$python' is not Python 3.9 or later: set PYTHON to an interpreter of version 3.9 or later"
if ! "$tools/bin/maturin" --version >/dev/null 2>&1; then
  say "installing maturin into ${tools#"$root"/}"
  "$python" -m venv "$tools" || fail "$python cannot create a virtual environment; install venv (Debian: apt-get install python3-venv)"
  "$tools/bin/python" -m pip install --quiet --disable-pip-version-check 'maturin>=1.9,<2' || fail "pip could not install maturin; check the network and try again"
fi

say "compiling both programs and the module"
export PYO3_PYTHON=$tools/bin/python
# Packed files get the time of the commit by default.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct 2>/dev/null || echo 315532800)}
export SOURCE_DATE_EPOCH

"$root/scripts/build.sh" cargo build --release ${CARGO_FLAGS:-} --manifest-path "$root/Cargo.toml" --workspace --bin evenhand --bin evenhand-check

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
