#!/usr/bin/env bash
# The OCaml that is believed about certificates of allocations: it reads and prints. docs/proof.md lists its files with their
# lines. The numbers are facts, and no limits.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
page=../../docs/proof.md
shared=0
# The lines of a file, which the page has to state
lines_of() {
  local lines
  lines=$(wc -l <"reader/$1.ml")
  grep -q "^| \`reader/$1.ml\` | $lines |" "$page" || {
    echo "trusted: error: docs/proof.md does not say that reader/$1.ml has $lines lines" >&2
    exit 1
  }
  echo "$lines"
}
for file in zar json strict reader groups verdict say; do
  lines=$(lines_of "$file")
  shared=$((shared + lines))
done
for place in "at the command line:main" "in a browser:browser"; do
  lines=$(lines_of "${place#*:}")
  all=$((shared + lines)) where=${place%:*}
  grep -q "^| together, $where | $all |" "$page" || { echo "trusted: error: docs/proof.md does not say $all lines $where" >&2; exit 1; }
  echo "trusted: $all lines of OCaml $where"
done
