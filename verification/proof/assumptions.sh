#!/usr/bin/env bash
# Fails if a theory admits or assumes a statement. No theory may contain a word that does so, and Coq has to report that every
# theorem is closed under the global context.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

mapfile -t theories < <(sed -n 's|^theories/\(.*\)\.v$|\1|p' _CoqProject)
words='Admitted|admit|give_up|Axioms?|Parameters?|Conjecture|bypass_check|Unset [A-Z][a-z]* Checking'
if (cd theories && grep -nE "(^|[^A-Za-z_])($words)([^A-Za-z_]|\$)" "${theories[@]/%/.v}"); then
  echo "assumptions: error: the lines above have a word that admits or assumes a statement; prove the statement" >&2
  exit 1
fi
# A variable or hypothesis outside a section is an axiom.
for theory in "${theories[@]}"; do
  awk -v file="theories/$theory.v" '
    /^ *Section / { depth++ } /^ *End / { depth-- }
    /^ *(Variables?|Hypothes[ie]s|Context) / && depth < 1 { print file ":" NR ": " $0; bad = 1 }
    END { exit bad }' "theories/$theory.v" || {
    echo "assumptions: error: a variable or hypothesis outside a section is an axiom; move it into a section" >&2
    exit 1
  }
done

mkdir -p build
mapfile -t proved < <(for theory in "${theories[@]}"; do
  sed -n "s/^ *\(Theorem\|Lemma\|Corollary\|Fact\|Remark\|Proposition\) \([A-Za-z0-9_']*\).*/@Evenhand.$theory.\2/p" \
    "theories/$theory.v"
done)
{
  printf 'From Evenhand Require %s.\n' "${theories[*]}"
  # All theorems are printed together, so that Coq visits shared lemmas only once.
  printf 'Definition everything := (%s).\n' "$(IFS=, && echo "${proved[*]}")"
  echo 'Print Assumptions everything.'
} >build/assumptions.v
said=$(coqc -Q theories Evenhand build/assumptions.v)
if [[ $said != 'Closed under the global context' ]]; then
  printf 'assumptions: error: Coq reports theorems that depend on axioms:\n%s\n' "$said" >&2
  exit 1
fi
echo "assumptions: ${#proved[@]} theorems and lemmas, all closed under the global context"
