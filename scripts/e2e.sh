#!/usr/bin/env bash
# Opens pages of this build in a headless Chromium (scripts/e2e.py). Then starts a real Slurm, compares verdicts with it
# (scripts/e2e_slurm.py), and watches it with a real Prometheus (scripts/e2e_watch.py). As root, installs missing Debian
# packages. With the argument `slurm`, skips the pages.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}

if [[ ${1:-} != slurm ]]; then
  if ! command -v chromium >/dev/null || ! command -v chromedriver >/dev/null; then
    if [[ $(id -u) != 0 ]] || ! command -v apt-get >/dev/null; then
      echo "e2e: error: chromium or chromedriver is missing; install both (Debian: apt-get install chromium chromium-driver)" >&2
      exit 2
    fi
    echo "e2e: installing chromium and chromium-driver"
    apt-get install -y -q chromium chromium-driver >/dev/null || { apt-get update -q && apt-get install -y -q chromium chromium-driver; } >/dev/null
  fi
fi
cargo build --release --workspace --bin evenhand ${CARGO_FLAGS:-}
if [[ ${1:-} != slurm ]]; then
  python3 "$root/scripts/e2e.py" "$target/release/evenhand" "$root/examples" "$target/e2e"
fi
python3 "$root/scripts/e2e_slurm.py" "$target/release/evenhand" "$target/e2e/slurm"
