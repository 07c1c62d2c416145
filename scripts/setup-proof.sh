#!/usr/bin/env bash
# Looks for the tools of the proofs: Coq, OCaml, ocamlfind, Zarith, Yojson, js_of_ocaml and Node. No other part of Evenhand
# needs these tools. Names the missing packages. As root and with PROOF_SETUP=1, installs the packages with apt-get.
#
#   scripts/setup-proof.sh                 names missing packages; exit 1 if a package is missing
#   PROOF_SETUP=1 scripts/setup-proof.sh   installs missing packages
set -euo pipefail

packages=(coq libzarith-ocaml-dev libyojson-ocaml-dev ocaml-findlib ocaml-nox js-of-ocaml)

look() {
  missing=()
  command -v coqc >/dev/null 2>&1 && command -v coq_makefile >/dev/null 2>&1 || missing+=(coq)
  command -v ocamlopt >/dev/null 2>&1 || missing+=(ocaml-nox)
  command -v js_of_ocaml >/dev/null 2>&1 || missing+=(js-of-ocaml)
  command -v node >/dev/null 2>&1 || { missing+=(nodejs); packages+=(nodejs); }
  if ! command -v ocamlfind >/dev/null 2>&1; then
    missing+=(ocaml-findlib libzarith-ocaml-dev libyojson-ocaml-dev)
  else
    ocamlfind query zarith >/dev/null 2>&1 || missing+=(libzarith-ocaml-dev)
    ocamlfind query yojson >/dev/null 2>&1 || missing+=(libyojson-ocaml-dev)
  fi
}

look
((${#missing[@]})) || exit 0
if [[ ${PROOF_SETUP:-} == 1 ]] && ((EUID == 0)) && command -v apt-get >/dev/null 2>&1; then
  export DEBIAN_FRONTEND=noninteractive
  printf 'set-up: apt-get install %s\n' "${packages[*]}"
  apt-get update >/dev/null 2>&1 || true
  apt-get install -y --no-install-recommends "${packages[@]}" >/dev/null
  look
  ((${#missing[@]})) || exit 0
fi
printf 'set-up: error: missing for the proofs: %s; run 'apt-get install %s' (Debian), or 'PROOF_SETUP=1 make proof' as root\n' \
  "${missing[*]}" "${packages[*]}" >&2
exit 1
