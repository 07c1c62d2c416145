#!/usr/bin/env bash
# Measures the time of each peer on each problem, one after the other, and prints a table. The lines are also appended to
# .tools/peers/results.jsonl.
#
#   run.sh                               the Google table with 300 and 900 users; pools and a cluster
#   run.sh PROBLEM[=ALLOCATION]...       problem files; the (exact) allocation is for envy.py,
#                                        which otherwise gets the allocation that esolver computes
# Environment: REPETITIONS (default 5) and TIME_LIMIT (seconds for one run of an exact solver, default 120).
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
python=$root/.tools/peers/bin/python
instances=$root/.tools/peers/instances
results=$root/.tools/peers/results.jsonl
export PYTHONDONTWRITEBYTECODE=1

repetitions=${REPETITIONS:-5}
time_limit=${TIME_LIMIT:-120}

"$here/setup.sh"
mkdir -p "$instances"
: >"$results"

# A peer that fails (not installed, time limit) reports the reason and is left out.
peer() {
  local script=$1
  shift
  "$python" "$here/$script" "$@" --repetitions "$repetitions" >>"$results" ||
    printf 'peers: no result from %s %s\n' "$script" "$*" >&2
}

benches() {
  "${CARGO:-cargo}" run --quiet --release --manifest-path "$root/Cargo.toml" -p evenhand-benches -- "$@"
}

problems=("$@")
if ((${#problems[@]} == 0)); then
  for users in 300 900; do
    benches instance google "$users" -o "$instances/google-$users.json"
    problems+=("$instances/google-$users.json")
  done
  for users in 100 10000; do
    benches pool-file scarce "$users" 16 -o "$instances/pool-$users.bin"
    for solver in newton cvxpy-ecos cvxpy-clarabel clarabel; do
      peer pool.py "$instances/pool-$users.bin" --solver "$solver"
    done
  done
  benches pool-file scarce 200 4 -o "$instances/trajectory.bin"
  for solves in woodbury dense; do
    peer trajectory.py "$instances/trajectory.bin" --c-max 1e3 --solves "$solves"
  done
  benches instance general 300 --classes 27 --resources 3 -o "$instances/cluster.json"
  for alpha in 1 2 1/2; do
    peer cluster.py "$instances/cluster.json" --alpha "$alpha"
  done
fi

for argument in "${problems[@]}"; do
  problem=${argument%%=*}
  printf 'peers: %s\n' "$problem" >&2
  for mode in lex one; do
    for variant in default primal ipm; do
      peer drfh_highspy.py "$problem" --variant "$variant" --mode "$mode"
    done
  done
  for variant in parameters rebuild primal; do
    peer drfh_cvxpy.py "$problem" --variant "$variant"
  done
  peer drfh_cvxpy.py "$problem" --mode one
  if [[ $argument == *=* ]]; then
    allocation=${argument#*=}
  else
    allocation=$instances/allocation.json
    rm -f "$allocation"
  fi
  if command -v esolver >/dev/null; then
    keep=()
    if [[ $argument != *=* ]]; then keep=(-o "$allocation"); fi
    peer drfh_exact.py "$problem" --time-limit "$time_limit" "${keep[@]}"
    peer drfh_exact.py "$problem" --time-limit "$time_limit" --columns tasks
  fi
  if command -v glpsol >/dev/null; then
    peer drfh_exact.py "$problem" --time-limit "$time_limit" --solver glpsol
  fi
  if [[ -f $allocation ]]; then
    peer envy.py "$problem" "$allocation"
  fi
done

"$python" "$here/table.py" "$results"
