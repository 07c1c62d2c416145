#!/usr/bin/env bash
# The OCaml that is believed about certificates of allocations: it reads and prints. Its files stand in docs/proof.md with
# their lines, below 650 in all.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
page=../../docs/proof.md
most=650 all=0
for file in zar json strict reader groups verdict main say; do
  lines=$(wc -l <"reader/$file.ml")
  all=$((all + lines))
  grep -q "^| \`reader/$file.ml\` | $lines |" "$page" || {
    echo "trusted: error: docs/proof.md does not say that reader/$file.ml has $lines lines" >&2
    exit 1
  }
done
((all < most)) || { echo "trusted: error: $all lines of OCaml are believed, which should be fewer than $most" >&2; exit 1; }
grep -q "^| together | $all |" "$page" || { echo "trusted: error: docs/proof.md does not say $all lines together" >&2; exit 1; }
echo "trusted: $all lines of OCaml"
