#!/usr/bin/env bash
# The OCaml that is believed about certificates of allocations: it reads and prints. Its files stand in docs/proof.md with
# their lines: below 600 at the command line, and below 600 in a browser.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
page=../../docs/proof.md
most=600 shared=0
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
  ((all < most)) || { echo "trusted: error: $all lines of OCaml are believed $where, which should be fewer than $most" >&2; exit 1; }
  grep -q "^| together, $where | $all |" "$page" || { echo "trusted: error: docs/proof.md does not say $all lines $where" >&2; exit 1; }
  echo "trusted: $all lines of OCaml $where"
done
