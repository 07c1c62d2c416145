#!/usr/bin/env bash
# Tests the Python wheel as users install it, in a separate environment under target/. pytest runs in this environment.
# PYTHON names the interpreter; arguments are passed to pytest.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
python=${PYTHON:-python3}
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
place=$target/python/test-$version

wheels=("$target"/wheels/evenhand-*.whl)
[[ -f ${wheels[0]} ]] || { echo "test-python: error: $target/wheels contains no wheel: run 'make wheel' first" >&2; exit 1; }
if [[ ! -x $place/bin/python ]]; then
  printf 'test-python: creating an environment with Python %s in %s\n' "$version" "${place#"$root"/}"
  "$python" -m venv "$place"
fi
stamp=$(sha256sum "$root/bindings/python/tests/requirements.txt" | cut -d' ' -f1)
if [[ $(cat "$place/requirements" 2>/dev/null) != "$stamp" ]]; then
  echo "test-python: installing the packages that the tests need"
  "$place/bin/python" -m pip install --quiet --disable-pip-version-check -r "$root/bindings/python/tests/requirements.txt"
  echo "$stamp" >"$place/requirements"
fi
"$place/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall "${wheels[0]}"
# The wheel also contains the programs; the tests must use these.
export PATH=$place/bin:$PATH MPLBACKEND=Agg
cd "$root/bindings/python" && exec "$place/bin/python" -m pytest "$@"
