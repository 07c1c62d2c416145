#!/usr/bin/env bash
# Fuzzes every target for a minute, on the stable compiler: libFuzzer without a sanitizer, for but a few lines are
# unsafe. What it finds is in fuzz/artifacts, and a target that finds something ends the run with 1. See
# fuzz/README.md.
#
#   scripts/fuzz.sh [-s SECONDS | -m MINUTES] [TARGET]...    so long for each target, or for all together
#   scripts/fuzz.sh --address                                the tests of the unsafe lines with the address sanitizer
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
host=$(rustc -vV | sed -n 's/^host: //p')

# The address sanitizer needs the nightly compiler. The C++ of HiGHS is compiled with it as well.
address() {
  if ! rustc +nightly --version >/dev/null 2>&1; then
    echo "fuzz: NOT RUN: the address sanitizer needs the nightly compiler (rustup toolchain install nightly)"
    exit 3
  fi
  echo "fuzz: $(rustc +nightly --version), address sanitizer: compiles GMP and HiGHS once more"
  # HiGHS keeps some memory until the program ends, and the tables that GCC makes of a switch in a header stand in several of
  # its objects; neither is a fault.
  export ASAN_OPTIONS=detect_leaks=0:detect_odr_violation=0 CARGO_TARGET_DIR=$root/target/address CXXFLAGS=-fsanitize=address
  # The linker's own runtime of the sanitizer would be a second one.
  RUSTFLAGS=-Zsanitizer=address cargo +nightly test --release --target "$host" -p evenhand-lp --lib --test it -- \
    highs cholesky exact_lp mip
  echo "fuzz: the address sanitizer found nothing"
}

seconds=60 minutes=
case ${1:-} in
  --address) address; exit ;;
  -s) seconds=$2; shift 2 ;;
  -m) minutes=$2; shift 2 ;;
esac
targets=("$@")
if ((${#targets[@]} == 0)); then
  targets=(readers certificates importers pipeline tree scenarios checkpoints audit export arguments)
fi
if [[ -n $minutes ]]; then seconds=$((minutes * 60 / ${#targets[@]})); fi
version=0.13.2 # of cargo-fuzz
tools=$root/.tools/cargo-fuzz

# Inputs that are in the repository anyway; those in fuzz/corpus come with the target.
seeds() {
  local certificates=crates/testkit/certificates
  case $1 in
    readers) echo examples "$certificates/allocation/accept" ;;
    certificates) echo crates/evenhand/tests/defects "$certificates"/{allocation,ratio,worst-load}/accept ;;
    pipeline | tree) echo crates/evenhand/tests/defects examples ;;
    export) echo examples "$certificates"/{allocation,ratio,worst-load}/accept ;;
  esac
}

if ! cargo fuzz --version >/dev/null 2>&1; then
  export PATH=$tools/bin:$PATH
  if ! cargo fuzz --version >/dev/null 2>&1; then
    echo "fuzz: installs cargo-fuzz $version into .tools/cargo-fuzz (nothing outside this folder changes)"
    cargo install --quiet --locked --root "$tools" --version "$version" cargo-fuzz
  fi
fi

options=(--fuzz-dir fuzz --sanitizer none --target "$host")
echo "fuzz: compiles the targets (the first time GMP and HiGHS, too)"
cargo fuzz build "${options[@]}"
if [[ " ${targets[*]} " == *" arguments "* ]]; then
  scripts/build.sh cargo build --release -p evenhand
  export EVENHAND_PROGRAM=${CARGO_TARGET_DIR:-$root/target}/release/evenhand
fi

# One thread, so that the memory and the time of an input are its own.
export RAYON_NUM_THREADS=1
failed=()
for target in "${targets[@]}"; do
  echo "fuzz: $target, $seconds s"
  found=fuzz/target/corpus/$target # what covers something new; not in git
  mkdir -p "$found"
  # shellcheck disable=SC2046
  cargo fuzz run "${options[@]}" "$target" "$found" "fuzz/corpus/$target" $(seeds "$target") -- \
    -max_total_time="$seconds" -timeout=30 -rss_limit_mb=512 -max_len=8000 -print_final_stats=1 \
    2>"$found.log" || failed+=("$target")
  grep -E 'stat::(number_of_executed_units|average_exec_per_sec|peak_rss_mb)|ERROR: |panicked at' "$found.log" || true
done
if ((${#failed[@]})); then
  echo "fuzz: found something: ${failed[*]} (fuzz/artifacts, and the logs in fuzz/target/corpus)"
  exit 1
fi
echo "fuzz: nothing found"
