#!/usr/bin/env bash
# Creates the Python environment of the peers in .tools/peers (ignored by git), and installs the two exact
# LP solvers if that is possible. Packages that cannot be installed are named, and their peers are skipped.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
venv=$root/.tools/peers
log=$root/.tools/peers-setup.log
wheels=(numpy scipy highspy cvxpy clarabel ecos scs numba)

say() { printf 'peers: %s\n' "$*"; }
have() { command -v "$1" >/dev/null 2>&1; }

mkdir -p "$root/.tools"
if ! "$venv/bin/python" -c 'import numpy, scipy, highspy, cvxpy, clarabel, ecos, scs, numba' 2>/dev/null; then
  say "pip install ${wheels[*]} into .tools/peers"
  if ! { python3 -m venv "$venv" && "$venv/bin/pip" install --disable-pip-version-check "${wheels[@]}"; } >"$log" 2>&1; then
    say "error: no Python environment (see .tools/peers-setup.log): $(tail -n 1 "$log")" >&2
    exit 1
  fi
fi

packages=()
have esolver || packages+=(qsopt-ex)
have glpsol || packages+=(glpk-utils)
if ((${#packages[@]})); then
  if ((EUID == 0)) && have apt-get; then
    say "apt-get install ${packages[*]}"
    { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${packages[@]}"; } >>"$log" 2>&1 ||
      say "could not install ${packages[*]} (see .tools/peers-setup.log): their peers are skipped"
  else
    say "${packages[*]} not here, and installing needs root and apt-get: their peers are skipped"
  fi
fi
