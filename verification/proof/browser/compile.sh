#!/usr/bin/env bash
# Compiles bytecode to JavaScript for browsers. Every warning of js_of_ocaml is an error. js_of_ocaml warns about missing
# primitives and about integers of more than 32 bits, which it truncates.
#
#   compile.sh BYTECODE SCRIPT
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
said=$(js_of_ocaml --opt 3 --no-source-map --target-env browser --no-extern-fs "$here/zarith.js" "$here/offer.js" "$1" -o "$2" 2>&1) && [[ -z $said ]] || {
  rm -f "$2"
  printf 'browser: error: js_of_ocaml says:\n%s\n' "$said" >&2
  exit 1
}
