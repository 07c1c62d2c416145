#!/usr/bin/env bash
# Opens pages of this build in a headless Chromium (scripts/e2e.py); root installs Debian's where it is missing.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}

if ! command -v chromium >/dev/null || ! command -v chromedriver >/dev/null; then
  if [[ $(id -u) != 0 ]] || ! command -v apt-get >/dev/null; then
    echo "e2e: error: this needs the programs chromium and chromedriver (Debian: chromium, chromium-driver)" >&2
    exit 2
  fi
  echo "e2e: installs chromium and chromium-driver"
  apt-get install -y -q chromium chromium-driver >/dev/null || { apt-get update -q && apt-get install -y -q chromium chromium-driver; } >/dev/null
fi
cargo build --release --package evenhand ${CARGO_FLAGS:-}
python3 "$root/scripts/e2e.py" "$target/release/evenhand" "$root/examples" "$target/e2e"
