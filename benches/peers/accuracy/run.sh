#!/usr/bin/env bash
# Runs `bench accuracy` with Python programs next to the compiled-in solvers.
#
#   run.sh [OPTION OF bench accuracy]...    (default: --suite small --seconds 20 -o target/accuracy-peers)
#
# The Python environment is target/accuracy-peers/venv. Packages that cannot be installed are named and left out.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
folder=$root/target/accuracy-peers
python=$folder/venv/bin/python
export PYTHONDONTWRITEBYTECODE=1

say() { printf 'accuracy-peers: %s\n' "$*" >&2; }

mkdir -p "$folder"
[[ -x $python ]] || "${PYTHON:-python3}" -m venv "$folder/venv"
for module in numpy scipy highspy cvxpy clarabel scs ecos osqp ortools; do
  "$python" -c "import $module" 2>/dev/null ||
    "$python" -m pip install --disable-pip-version-check --quiet "$module" >"$folder/pip.log" 2>&1 ||
    say "$module cannot be installed (see target/accuracy-peers/pip.log); the programs that need it are left out"
done
has() { for module in "$@"; do "$python" -c "import $module" 2>/dev/null || return 1; done; }

solvers=()
linear() { solvers+=(--solver "$1='$python' '$here/$2' $3 {mps} {answer}"); }
if has highspy; then
  for method in simplex ipm pdlp; do linear "highspy-$method" highspy_linear.py "$method"; done
fi
if has highspy scipy; then
  for method in highs-ds highs-ipm; do linear "scipy-$method" scipy_linear.py "$method"; done
fi
if has ortools; then
  for tolerance in 1e-4 1e-6 1e-8; do linear "ortools-pdlp-$tolerance" ortools_linear.py "$tolerance"; done
fi
for solver in CLARABEL SCS ECOS OSQP; do
  has numpy scipy cvxpy "${solver,,}" || continue
  name=cvxpy-${solver,,}
  if [[ $solver != OSQP ]]; then
    solvers+=(--solver "$name='$python' '$here/cvxpy_fair.py' $solver {problem} {answer} {kind} {alpha}")
  fi
  solvers+=(--solver "$name-linear='$python' '$here/cvxpy_linear.py' $solver {problem} {answer} {kind}")
done
((${#solvers[@]})) || { say "error: no Python program is available; see target/accuracy-peers/pip.log"; exit 1; }

options=("$@")
((${#options[@]})) || options=(--suite small --seconds 20 -o "$folder/run")
program=${EVENHAND:-${CARGO_TARGET_DIR:-$root/target}/release/evenhand}
"$program" bench accuracy "${solvers[@]}" "${options[@]}"
