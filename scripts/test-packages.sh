#!/usr/bin/env bash
# Builds two programs outside of this workspace on the packaged crates (`make package`), as those of a library's user:
# one that solves and certifies as README says, and one that only checks, which must not need HiGHS.
#
#   scripts/test-packages.sh                 in target/, where GMP and HiGHS are compiled already
#   scripts/test-packages.sh --cold FEATURE  from nothing, and says how long it took (check, solve, certify, ...)
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
target=${CARGO_TARGET_DIR:-$root/target}
place=$target/package-test

say() { printf 'test-packages: %s\n' "$*"; }
fail() {
  printf 'test-packages: error: %s\n' "$*" >&2
  exit 1
}

packages=("$target"/package/*.crate)
[[ -f ${packages[0]} ]] || fail "there is no package: make package"
rm -rf "$place"
mkdir -p "$place/crates"
# Files in a package are all as old as 2006: as they come, cargo takes what it compiled of an earlier one for this one.
for package in "${packages[@]}"; do tar -xzmf "$package" -C "$place/crates"; done
rm -rf "$place"/crates/*/Cargo.lock

# A crate that depends on the packages, which stand where a registry's would. The compiled parts of others are those of
# the workspace: the same versions and the same profile. Ours are compiled quickly, for they run for a moment only.
new_crate() { # name, feature
  mkdir -p "$place/$1/src"
  cp Cargo.lock "$place/$1/"
  {
    printf '[package]\nname = "%s"\nversion = "0.0.0"\nedition = "2024"\n\n[workspace]\n\n' "outside-$1"
    printf '[dependencies.evenhand]\nversion = "0.1"\ndefault-features = false\nfeatures = ["%s"]\n\n' "$2"
    printf '[profile.release]\ndebug = false\n\n[patch.crates-io]\n'
    local folder name
    for folder in "$place"/crates/*; do
      name=${folder##*/}
      printf '%s = { path = "../crates/%s" }\n' "${name%-*}" "$name"
    done
    if [[ ${3:-} != cold ]]; then
      for folder in "$place"/crates/*; do
        name=${folder##*/}
        printf '\n[profile.release.package.%s]\nopt-level = 0\n' "${name%-*}"
      done
    fi
  } >"$place/$1/Cargo.toml"
}

build() { # name; a patch that a feature does not use is no news, so that cargo is quiet
  (cd "$place/$1" && cargo build --release --offline --quiet) || fail "$1 does not build on the packages"
}

needs() { # name: the crates of which its program is made, and by which
  (cd "$place/$1" && cargo tree --offline --quiet --edges normal,build --prefix none) | cut -d' ' -f1 | LC_ALL=C sort -u
}

if [[ ${1:-} == --cold ]]; then
  feature=${2:?name a feature}
  new_crate "cold-$feature" "$feature" cold
  echo 'pub use evenhand::prelude::*;' >"$place/cold-$feature/src/lib.rs"
  # The cache of GMP is turned off, too.
  export CARGO_TARGET_DIR=$place/cold GMP_MPFR_SYS_CACHE=_
  rm -rf "$CARGO_TARGET_DIR"
  start=$SECONDS
  build "cold-$feature"
  say "feature $feature, cold, on $(nproc) processors: $((SECONDS - start)) s"
  exit
fi

export CARGO_TARGET_DIR=$target
certificate=$place/drfh.cert.json

new_crate certifier certify
# The program of README, which also hands its certificate on.
write='    std::fs::write(std::env::args().nth(1).expect("a path"), \&file.text)?;'
sed -n '/^## As a library/,/^## /{/^```rust/,/^```$/{/^```/d;p}}' README.md | sed "s|^    println!|$write\n&|" >"$place/certifier/src/main.rs"
build certifier
said=$("$target/release/outside-certifier" "$certificate") || fail "README's example does not certify outside of this workspace"
[[ $said == "tasks [10, 10], refused: None" ]] || fail "README's example says: $said"
needs certifier | grep -qx highs-sys || fail "the feature certify should need HiGHS, and does not: this test sees nothing"

new_crate checker check
cat >"$place/checker/src/main.rs" <<'RUST'
use evenhand::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = std::fs::read_to_string(std::env::args().nth(1).expect("a path"))?;
    let options = CheckOptions { require: vec!["max-min:drfh".to_owned()], ..CheckOptions::default() };
    let verdict = |text: String| check(&File { name: "certificate".to_owned(), text }, &options);
    let good = verdict(text.clone()).map_err(|unusable| unusable.what)?;
    assert_eq!(good.reason, None);
    assert!(good.claims.iter().any(|claim| claim == "sharing-incentive holds, margin 1/3"), "{:?}", good.claims);
    let bad = verdict(text.replace("\"1/3\"", "\"1/2\"")).map_err(|unusable| unusable.what)?;
    assert!(bad.reason.is_some(), "a margin that is not true passes");
    assert!(verdict("{}".to_owned()).is_err_and(|unusable: Unusable| unusable.status == 2));
    Ok(())
}
RUST
build checker
"$target/release/outside-checker" "$certificate" || fail "the feature check does not check the certificate"
unwanted=$(needs checker | grep -E '^(highs|highs-sys|cmake|bindgen|clang-sys|evenhand-levels|evenhand-lp)$' || true)
[[ -z $unwanted ]] || fail "the feature check needs ${unwanted//$'\n'/, }"
say "both programs build on the packages, the one that checks of $(needs checker | wc -l) crates without HiGHS, and do what they should"
