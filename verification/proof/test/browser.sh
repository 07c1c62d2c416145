#!/usr/bin/env bash
# Compares the build for browsers with the build in machine code. Both builds run every primitive of integers. Both judge every
# certificate of the test kit, and the intact and damaged certificates of three.sh. The compiler has to refuse an integer that
# JavaScript would truncate.
#
#   browser.sh [CALLS [SEEDS [EACH]]]     the number of calls of each primitive, of certificates, and of damaged copies of each
#                                         (default: 100000 2000 5)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
damage=${DAMAGE:-${CARGO_TARGET_DIR:-$PWD/../../target}/release/damage}
calls=${1:-100000} seeds=${2:-2000} each=${3:-5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo 'let () = print_int (if Array.length Sys.argv > 9 then 1_000_000_000_000 else 0)' >"$work/wide.ml"
ocamlfind ocamlc -package zarith "$work/wide.ml" -o "$work/wide.byte"
if browser/compile.sh "$work/wide.byte" "$work/wide.js" 2>"$work/said"; then
  echo "browser: error: js_of_ocaml compiles an integer of 40 bits without a warning, but must refuse it" >&2
  exit 1
fi
grep -q 'integer' "$work/said" || { cat "$work/said" >&2; exit 1; }

build/primitives "$calls" >"$work/machine"
node build/js/primitives.js "$calls" >"$work/browser"
cmp "$work/machine" "$work/browser" || {
  diff "$work/machine" "$work/browser" | head -20 >&2
  echo "browser: error: the primitives of integers give other results in JavaScript than in machine code; see browser/zarith.js" >&2
  exit 1
}
echo "browser: $(sed -n 's/, [0-9]*: [0-9a-f]\{32\}$//p' "$work/machine" | sort -u | wc -l) primitives, $calls random calls of each: the same as Zarith's"

test/both.py ../../crates/testkit/certificates/*/accept/*.json
BOTH_KEEP=$work "$damage" 0 "$seeds" --each "$each" --state "$work/state.json" --keep "$work/kept" --proof test/both.py \
  >"$work/said" 2>"$work/counted" || { cat "$work/said" "$work/counted" >&2; exit 1; }
tail -1 "$work/counted"
grep -q ' 0 differences$' "$work/counted"
