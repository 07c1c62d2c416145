#!/usr/bin/env bash
# Compares the sizes of the trusted OCaml files, which read certificates of allocations and print results, with the numbers of
# lines in docs/proof.md. The numbers are facts and not limits.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
page=../../docs/proof.md
shared=0
# Prints the number of lines of a file. Fails if the page does not state this number.
lines_of() {
  local lines
  lines=$(wc -l <"reader/$1.ml")
  grep -q "^| \`reader/$1.ml\` | $lines |" "$page" || {
    echo "trusted: error: docs/proof.md states another number of lines of reader/$1.ml; write $lines" >&2
    exit 1
  }
  echo "$lines"
}
for file in zar json strict reader groups verdict say; do
  lines=$(lines_of "$file")
  shared=$((shared + lines))
done
# Certificates of ratios, worst loads and linear programmes have other readers.
for files in "packing ratio" linear; do
  read -ra names <<<"$files"
  lines=$(for name in "${names[@]}"; do cat "reader/$name.ml"; done | wc -l)
  grep -q "reader/${names[-1]}.ml\` ($lines lines)" "$page" || {
    echo "trusted: error: docs/proof.md states another number of lines of reader/${files// / and }.ml; write $lines" >&2
    exit 1
  }
done
for place in "at the command line:main" "in a browser:browser"; do
  lines=$(lines_of "${place#*:}")
  all=$((shared + lines)) where=${place%:*}
  grep -q "^| together, $where | $all |" "$page" || { echo "trusted: error: docs/proof.md states another total of lines $where; write $all" >&2; exit 1; }
  echo "trusted: $all lines of OCaml $where"
done
