#!/usr/bin/env bash
# Runs a cargo command and, while the native libraries are being compiled for the first time,
# says how far they are: cargo itself is silent for minutes then.
#
#   scripts/build.sh cargo build --release
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
highs_files=222 # object files of HiGHS 1.15; only for the message

# mimalloc states the day on which it was compiled: 1 January 1980 for all, in seconds since 1970, so that the same sources give
# the same bytes.
if [[ ${1##*/} == cargo ]]; then export SOURCE_DATE_EPOCH=315532800; fi

# CMake 3.21 and later read this variable; an older one compiles every file on its own.
export CMAKE_TOOLCHAIN_FILE=${CMAKE_TOOLCHAIN_FILE:-$root/scripts/highs.cmake}

built() { compgen -G "$target/release/build/highs-sys-*/out/lib*/libhighs.a" >/dev/null; }

objects() { # how many files of HiGHS are compiled
  { find "$target"/release/build/highs-sys-*/out/build -name '*.o' -printf . 2>/dev/null || true; } | wc -c
}

tell() { # on a terminal, over cargo's progress bar
  if [[ -t 2 ]]; then printf '\r\033[K' >&2; fi
  printf 'first build: %s\n' "$*" >&2
}

watch() { # says one line every 20 seconds until HiGHS is there
  local start=$SECONDS n
  while sleep 20 >/dev/null 2>&1; do # may outlive us, so it must hold no pipe open
    if built; then
      tell "HiGHS is done after $((SECONDS - start)) s"
      return
    fi
    n=$(objects)
    if ((n)); then
      tell "$((SECONDS - start)) s, HiGHS $n of about $highs_files files"
    else
      tell "$((SECONDS - start)) s, Rust crates and GMP"
    fi
  done
}

if built; then exec "$@"; fi

tell "compiles GMP and HiGHS from source, once; on two cores that takes 3 to 5 minutes"
watch &
watcher=$!
trap 'kill "$watcher" 2>/dev/null || true' EXIT
"$@"
