#!/usr/bin/env bash
# Follows the recipe "Add a mechanism" of CONTRIBUTING.md in a copy of these sources: makes the edits of scripts/recipe/edits.json,
# runs the commands that the recipe names, and asks the programs for an answer of the new mechanism.
#
#   scripts/test-recipe.sh   reuses dependencies that are already compiled; the crates of the engine are compiled anew
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
work=$(mktemp -d "${TMPDIR:-/tmp}/evenhand-recipe.XXXXXX")
copy=$work/evenhand
trap 'rm -rf "$work"' EXIT

say() { printf 'test-recipe: %s\n' "$*"; }

command -v python3 >/dev/null || { say "python3 is missing, which makes the edits" >&2; exit 2; }

# Copies the sources with uncommitted changes, but without the files that git ignores.
mkdir "$copy"
(cd "$root" && git ls-files -z --cached --others --exclude-standard | xargs -0 ls -d 2>/dev/null | tar -cf - -T -) | tar -xf - -C "$copy"
if [[ -f $root/.cargo/config.toml ]]; then # tools that the set-up found or downloaded
  cp -r "$root/.cargo" "$copy/"
  if [[ -d $root/.tools ]]; then cp -r "$root/.tools" "$copy/"; fi
fi
if [[ -d $target/release ]]; then
  mkdir "$copy/target"
  # The posix format keeps fractions of a second in file times. cargo needs them to compare the ages of files.
  (cd "$target" && find release -type f ! -path '*evenhand*' \( -path '*/build/*' -o -path '*/.fingerprint/*' -o -name '*.rlib' \
    -o -name '*.rmeta' -o -name '*.so' -o -name '*.d' \) -print0 | tar --null --format=posix -cf - -T -) | tar -xf - -C "$copy/target"
fi
unset CARGO_TARGET_DIR

cd "$copy"
say "editing a copy in $copy"
python3 - <<'PYTHON'
import json, pathlib

recipe = pathlib.Path("scripts/recipe")
edits = json.loads((recipe / "edits.json").read_text())
for edit in edits:
    path = pathlib.Path(edit["file"])
    if "new" in edit:
        path.write_text((recipe / edit["new"]).read_text())
        continue
    text = path.read_text()
    old = edit["after"] + "\n" if "after" in edit else edit["replace"]
    new = old + edit["insert"] + "\n" if "after" in edit else edit["by"]
    if text.count(old) != 1:
        raise SystemExit(f"{path}: {old!r} occurs {text.count(old)} times, not once")
    path.write_text(text.replace(old, new))
print(f"test-recipe: {len(edits)} edits")
PYTHON

tests() { scripts/build.sh cargo test --release ${CARGO_FLAGS:-} "$@"; }

cargo fmt --all --check
say "the mechanism's own test"
tests -p evenhand-mechanisms --test it partition
say "guarantees: test them on random problems, write the list"
EVENHAND_WRITE_DOCS=1 tests -p evenhand-certify --test it guarantees
say "matrix: search for counterexamples to the new mechanism, write the table"
EVENHAND_WRITE_DOCS=1 tests -p evenhand-audit --test it matrix
say "the tests that compare lists and documents with the registry"
tests -p evenhand-certify -p evenhand-audit --test it -- guarantees matrix
tests -p evenhand --test it -- lists:: readme:: the_grammar_has_every_option what_to_type_instead
say "the programs"
problem=examples/two-servers.json
run() { target/release/"$@"; }
run evenhand solve "$problem" --mechanism partition --exact -o "$work/allocation.json"
run evenhand certify "$problem" "$work/allocation.json" --axiom sharing-incentive -o "$work/certificate.json"
run evenhand check "$work/certificate.json" --require sharing-incentive
grep -q '`partition`' docs/guarantees.md || { say "docs/guarantees.md does not name the mechanism" >&2; exit 1; }
git -C "$root" diff --no-index --stat "$root/docs" "$copy/docs" || true
say "the recipe works"
