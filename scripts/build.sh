#!/usr/bin/env bash
# Runs a cargo command. While the native libraries are compiled for the first time, reports their progress,
# because cargo prints no progress for minutes then.
#
#   scripts/build.sh cargo build --release
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
highs_files=34 # object files of HiGHS 1.15 in batches of eight sources, for the progress message only

# mimalloc stores its compilation date. The fixed date of 1 January 1980, in seconds since 1970, makes builds of the same sources
# identical byte for byte.
if [[ ${1##*/} == cargo ]]; then export SOURCE_DATE_EPOCH=315532800; fi

# CMake 3.21 and later read this variable. An older CMake compiles every file on its own.
export CMAKE_TOOLCHAIN_FILE=${CMAKE_TOOLCHAIN_FILE:-$root/scripts/highs.cmake}

built() { compgen -G "$target/release/build/highs-sys-*/out/lib*/libhighs.a" >/dev/null; }

objects() { # the number of compiled files of HiGHS
  { find "$target"/release/build/highs-sys-*/out/build -name '*.o' -printf . 2>/dev/null || true; } | wc -c
}

tell() { # on a terminal, overwrites cargo's progress bar
  if [[ -t 2 ]]; then printf '\r\033[K' >&2; fi
  printf 'first build: %s\n' "$*" >&2
}

watch() { # prints a line every 20 seconds until HiGHS is built
  local start=$SECONDS n
  while sleep 20 >/dev/null 2>&1; do # may outlive this script, so it must keep no pipe open
    if built; then
      tell "HiGHS is compiled after $((SECONDS - start)) s"
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

tell "compiling GMP and HiGHS from source (only once; 3 to 5 minutes on two cores)"
watch &
watcher=$!
trap 'kill "$watcher" 2>/dev/null || true' EXIT
"$@"
