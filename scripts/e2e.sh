#!/usr/bin/env bash
# Opens pages of this build in a headless Chromium (scripts/e2e.py), and judges a real Slurm that it starts
# (scripts/e2e_slurm.py). Root installs Debian's packages where they are missing. With the word `slurm` no pages.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}

if [[ ${1:-} != slurm ]]; then
  if ! command -v chromium >/dev/null || ! command -v chromedriver >/dev/null; then
    if [[ $(id -u) != 0 ]] || ! command -v apt-get >/dev/null; then
      echo "e2e: error: this needs the programs chromium and chromedriver (Debian: chromium, chromium-driver)" >&2
      exit 2
    fi
    echo "e2e: installs chromium and chromium-driver"
    apt-get install -y -q chromium chromium-driver >/dev/null || { apt-get update -q && apt-get install -y -q chromium chromium-driver; } >/dev/null
  fi
fi
cargo build --release --package evenhand ${CARGO_FLAGS:-}
if [[ ${1:-} != slurm ]]; then
  python3 "$root/scripts/e2e.py" "$target/release/evenhand" "$root/examples" "$target/e2e"
fi
python3 "$root/scripts/e2e_slurm.py" "$target/release/evenhand" "$target/e2e/slurm"
