#!/usr/bin/env bash
# Runs a cargo command and, while the native libraries are being compiled for the first time,
# says how far they are: cargo itself is silent for minutes then.
#
#   scripts/build.sh cargo build --release
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
highs_files=222 # object files of HiGHS 1.15; only for the message

built() { compgen -G "$target/release/build/highs-sys-*/out/lib*/libhighs.a" >/dev/null; }

objects() { # how many files of HiGHS are compiled
  find "$target"/release/build/highs-sys-*/out/build -name '*.o' -printf . 2>/dev/null | wc -c
}

watch() { # says one line every 20 seconds until HiGHS is there
  local start=$SECONDS n
  while sleep 20 >/dev/null 2>&1; do # may outlive us, so it must hold no pipe open
    if built; then
      printf '\r\033[Kfirst build: HiGHS is done after %d s\n' $((SECONDS - start)) >&2
      return
    fi
    n=$(objects)
    if ((n)); then
      printf '\r\033[Kfirst build: %d s, HiGHS %d of about %d files\n' $((SECONDS - start)) "$n" "$highs_files" >&2
    else
      printf '\r\033[Kfirst build: %d s, Rust crates and GMP\n' $((SECONDS - start)) >&2
    fi
  done
}

if built; then exec "$@"; fi

echo "first build: compiles GMP and HiGHS from source, once; on two cores that takes 3 to 5 minutes" >&2
watch &
watcher=$!
trap 'kill "$watcher" 2>/dev/null || true' EXIT
"$@"
