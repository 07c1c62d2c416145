#!/usr/bin/env bash
# Checks crates/report/src/html/proof.js.gz, the script that pages contain. With this file, pages can be built without Coq. The
# file contains a notice with the hash of the sources, and then build/js/proof.js, both compressed. Fails if the file differs.
#
#   script.sh            compare
#   script.sh --write    write the file again
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
kept=../../crates/report/src/html/proof.js.gz
made=build/js/page.js
sources=(build/proved.ml build/ratio_checker.ml build/linear_checker.ml reader/{zar,budget,json,strict,say,reader,groups,more,hash,branch,packing,ratio,linear,evidence,turns,further,verdict,browser}.ml browser/{zarith,offer}.js)
{
  echo "/*"
  cat browser/notice.txt
  echo "js_of_ocaml $(js_of_ocaml --version), OCaml $(ocamlc -version); sha256 of the sources: $(cat "${sources[@]}" | sha256sum | cut -d' ' -f1)"
  echo "*/"
  cat build/js/proof.js
} >"$made"
if [[ ${1:-} == --write ]]; then
  gzip -9 -n -c "$made" >"$kept"
  echo "browser: $(stat -c %s "$made") bytes of JavaScript, $(stat -c %s "$kept") compressed, in $kept"
elif ! gzip -d -c "$kept" 2>/dev/null | cmp -s - "$made"; then
  echo "browser: error: crates/report/src/html/proof.js.gz was not built from these sources; run make -C verification/proof script:" >&2
  echo "  file:    $(gzip -d -c "$kept" 2>/dev/null | sed -n '/sha256/p;/sha256/q')" >&2
  echo "  sources: $(sed -n '/sha256/p;/sha256/q' "$made")" >&2
  exit 1
fi
