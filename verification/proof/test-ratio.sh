#!/usr/bin/env bash
# Compares the proved checker with evenhand-check on intact and damaged ratio and worst-load certificates. The proved checker must
# refuse every certificate that evenhand-check refuses. It must accept every certificate that evenhand-check accepts, unless the
# certificate contains a proof by dynamic programming.
#
#   test-ratio.sh [PROBLEMS [DAMAGED [SEED]]]      the number of random problems, and of damaged certificates for each problem
#
# EVENHAND and EVENHAND_CHECK name the two programs. `make` builds the reader.
set -euo pipefail
cd "$(dirname "$0")"
root=$PWD/../..
evenhand=${EVENHAND:-$root/target/release/evenhand}
check=${EVENHAND_CHECK:-$root/target/release/evenhand-check}
problems=${1:-200} damaged=${2:-10} seed=${3:-1}
proven=$PWD/build/evenhand-proof
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work"/{problems,whole,damaged,trees}
for program in "$evenhand" "$check" "$proven"; do
  [ -x "$program" ] || { echo "there is no $program" >&2; exit 2; }
done

build/ratio_cases problems "$seed" "$problems" "$root/crates/testkit/golden/cases.json" "$work/problems"
for example in "$root"/examples/*.json; do
  if grep -q '"reservation-problem"' "$example"; then cp "$example" "$work/problems/example-$(basename "$example")"; fi
done
unanswered=0
for problem in "$work"/problems/*.json; do
  name=$(basename "$problem")
  timeout 60 "$evenhand" ratio "$problem" --trees -o "$work/whole/$name" --quiet > "$work/said" 2>&1 \
    || { unanswered=$((unanswered + 1)); rm -f "$work/whole/$name"; echo "no certificate: $name: $(head -1 "$work/said")"; }
  # Only problems with one pool have a worst load, and many types take long.
  timeout 20 "$evenhand" ratio "$problem" --worst-load --trees -o "$work/whole/worst-$name" --quiet > "$work/said" 2>&1 \
    || rm -f "$work/whole/worst-$name"
done
for kind in ratio worst-load; do
  fixtures=$root/crates/testkit/certificates/$kind
  mkdir "$work/trees/$kind"
  for fixture in "$fixtures"/accept/*.json; do
    name=$(basename "$fixture")
    cp "$fixture" "$work/whole/fixture-$kind-$name"
    build/ratio_cases problem "$fixture" "$work/problem.json"
    if [ "$kind" = ratio ]; then options=(); else options=(--worst-load); fi
    "$evenhand" ratio "$work/problem.json" "${options[@]}" --trees -o "$work/trees/$kind/$name" --quiet > /dev/null 2>&1
    cp "$work/trees/$kind/$name" "$work/whole/trees-$kind-$name"
    build/ratio_cases text "$seed" $((4 * damaged)) "$work/trees/$kind/$name" "$work/damaged"
  done
  for list in reject malformed; do
    for accepted in "$fixtures/accept" "$work/trees/$kind"; do
      build/ratio_cases patch "$fixtures/$list.json" "$accepted" "$work/damaged" 2>> "$work/left-out"
    done
  done
done
for whole in "$work"/whole/*.json; do
  build/ratio_cases damage "$seed" "$damaged" "$whole" "$work/damaged"
done

declare -A count
wrong=0
for certificate in "$work"/whole/*.json "$work"/damaged/*.json; do
  kernel=0 ours=0
  timeout 120 "$check" "$certificate" > "$work/kernel" 2>&1 || kernel=$?
  timeout 120 "$proven" "$certificate" > "$work/ours" 2>&1 || ours=$?
  kind=$(basename "$(dirname "$certificate")")
  count["$kind: evenhand-check $kernel, proven $ours"]=$((${count["$kind: evenhand-check $kernel, proven $ours"]:-0} + 1))
  case $kernel,$ours in
    0,0 | 1,[123] | 2,[123] | 3,[0123]) ;;
    0,3) grep -q 'dynamic programming' "$work/ours" || { wrong=$((wrong + 1)); echo "DIFFERENT: $certificate: $(head -1 "$work/ours")"; } ;;
    *) wrong=$((wrong + 1)); echo "DIFFERENT: $(basename "$certificate"): evenhand-check $kernel: $(head -1 "$work/kernel"); proven $ours: $(head -1 "$work/ours")"
       cp "$certificate" "${TMPDIR:-/tmp}/different-$(basename "$certificate")" ;;
  esac
done
echo "exit statuses (0 valid, 1 false, 2 unreadable, 3 too large or not covered):"
for key in "${!count[@]}"; do echo "  $key: ${count[$key]}"; done | sort
if [ -s "$work/left-out" ]; then echo "fixtures of another form: $(sort "$work/left-out" | tr '\n' ';')"; fi
printf '%s\0' "$work"/whole/*.json "$work"/damaged/*.json | xargs -0 -n 1000000 test/both.py || wrong=$((wrong + 1))
echo "$unanswered problems without a certificate, $wrong differences"
[ "$wrong" -eq 0 ]
