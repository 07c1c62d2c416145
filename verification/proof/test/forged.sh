#!/usr/bin/env bash
# Checks that Coq refuses forged statements that look well-formed. A file NAME_forged.v must not compile, and must fail at the
# theorem that checks the statement. NAME_true.v states the truth about the same problem and must compile.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp test/forged/*.v "$work"
forged=0
for file in "$work"/*_true.v; do
  coqc -q -Q theories Evenhand "$file" >"$work/said" 2>&1 || {
    echo "forged: error: $(basename "$file") is true and does not compile:" >&2
    cat "$work/said" >&2
    exit 1
  }
done
for file in "$work"/*_forged.v; do
  if coqc -q -Q theories Evenhand "$file" >"$work/said" 2>&1; then
    echo "forged: error: $(basename "$file") is forged and compiles; Coq must refuse it" >&2
    exit 1
  fi
  line=$(sed -n 's/.*line \([0-9]*\),.*/\1/p' "$work/said" | head -1)
  sed -n "$((line - 1))p" "$file" | grep -q '^Theorem checked' || {
    echo "forged: error: $(basename "$file") must fail at the theorem that checks the statement, and fails at another place:" >&2
    cat "$work/said" >&2
    exit 1
  }
  forged=$((forged + 1))
done
echo "forged: $forged forged statements are refused"
