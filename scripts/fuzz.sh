#!/usr/bin/env bash
# Fuzzes every target for a minute with the stable compiler: libFuzzer without a sanitizer, because only a few lines are
# unsafe. Failing inputs are saved in fuzz/artifacts. If a target fails, the script ends with status 1. See fuzz/README.md.
#
#   scripts/fuzz.sh [-s SECONDS | -m MINUTES] [TARGET]...    SECONDS for each target, or MINUTES for all together
#   scripts/fuzz.sh --address                                runs the tests of the unsafe lines with the address sanitizer
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
  echo "fuzz: $(rustc +nightly --version), address sanitizer: compiling GMP and HiGHS again"
  # HiGHS keeps some memory until the program ends. GCC puts the jump table of a switch in a header into several object files.
  # Both reports would be false alarms, so their detection is off.
  export ASAN_OPTIONS=detect_leaks=0:detect_odr_violation=0 CARGO_TARGET_DIR=$root/target/address CXXFLAGS=-fsanitize=address
  # The linker gets no such option, because it would add a second runtime of the sanitizer.
  RUSTFLAGS=-Zsanitizer=address cargo +nightly test --release --target "$host" -p evenhand-lp --lib --test it -- \
    highs cholesky exact_lp mip
  echo "fuzz: the address sanitizer found no fault"
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
version=0.13.2 # the version of cargo-fuzz
tools=$root/.tools/cargo-fuzz

# Prints folders of the repository with further inputs. The inputs in fuzz/corpus/TARGET are always passed.
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
    echo "fuzz: installing cargo-fuzz $version into .tools/cargo-fuzz (only inside this repository)"
    cargo install --quiet --locked --root "$tools" --version "$version" cargo-fuzz
  fi
fi

options=(--fuzz-dir fuzz --sanitizer none --target "$host")
echo "fuzz: compiling the targets (the first time, also GMP and HiGHS)"
cargo fuzz build "${options[@]}"
if [[ " ${targets[*]} " == *" arguments "* ]]; then
  scripts/build.sh cargo build --release --workspace --bin evenhand
  export EVENHAND_PROGRAM=${CARGO_TARGET_DIR:-$root/target}/release/evenhand
fi

# With one thread, memory and time are measured for each input alone.
export RAYON_NUM_THREADS=1
failed=()
for target in "${targets[@]}"; do
  echo "fuzz: $target, $seconds s"
  found=fuzz/target/corpus/$target # inputs that cover new code; not in git
  mkdir -p "$found"
  # shellcheck disable=SC2046
  cargo fuzz run "${options[@]}" "$target" "$found" "fuzz/corpus/$target" $(seeds "$target") -- \
    -max_total_time="$seconds" -timeout=30 -rss_limit_mb=512 -max_len=8000 -print_final_stats=1 \
    2>"$found.log" || failed+=("$target")
  grep -E 'stat::(number_of_executed_units|average_exec_per_sec|peak_rss_mb)|ERROR: |panicked at' "$found.log" || true
done
if ((${#failed[@]})); then
  echo "fuzz: these targets failed: ${failed[*]}; see fuzz/artifacts for the inputs and fuzz/target/corpus for the logs"
  exit 1
fi
echo "fuzz: no target failed"
