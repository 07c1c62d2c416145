#!/usr/bin/env bash
# Builds two programs outside this workspace with the packaged crates (`make package`), as a user of the library would.
# The first program is that of README, which solves and certifies. The second program only checks certificates, and must
# not need HiGHS.
#
#   scripts/test-packages.sh                 builds in target/, which already has GMP and HiGHS
#   scripts/test-packages.sh --cold FEATURE  builds from scratch and prints the time (check, solve, certify, ...)
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
[[ -f ${packages[0]} ]] || fail "$target/package contains no package: run 'make package' first"
rm -rf "$place"
mkdir -p "$place/crates"
# All files in a package are dated 2006. With these dates, cargo would reuse the build of an earlier package (hence -m).
for package in "${packages[@]}"; do tar -xzmf "$package" -C "$place/crates"; done
rm -rf "$place"/crates/*/Cargo.lock

# Makes a crate that depends on the packages as if they came from a registry. Dependencies have the same versions and the
# same profile as in the workspace, so their builds are reused. The packages of Evenhand are not optimised, because the
# programs run only for a short time.
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

build() { # name; --quiet hides cargo's warnings about patches that a feature does not use
  (cd "$place/$1" && cargo build --release --offline --quiet) || fail "$1 does not build with the packages, see above"
}

needs() { # name: prints the crates that its program contains or that build it
  (cd "$place/$1" && cargo tree --offline --quiet --edges normal,build --prefix none) | cut -d' ' -f1 | LC_ALL=C sort -u
}

if [[ ${1:-} == --cold ]]; then
  feature=${2:?give the name of a feature}
  new_crate "cold-$feature" "$feature" cold
  echo 'pub use evenhand::prelude::*;' >"$place/cold-$feature/src/lib.rs"
  # GMP's own cache is turned off as well.
  export CARGO_TARGET_DIR=$place/cold GMP_MPFR_SYS_CACHE=_
  rm -rf "$CARGO_TARGET_DIR"
  start=$SECONDS
  build "cold-$feature"
  say "feature $feature, built from scratch on $(nproc) processors: $((SECONDS - start)) s"
  exit
fi

export CARGO_TARGET_DIR=$target
certificate=$place/drfh.cert.json

new_crate certifier certify
# The program of README, with one more line that writes its certificate to a file.
write='    std::fs::write(std::env::args().nth(1).expect("a path"), \&file.text)?;'
sed -n '/^## As a library/,/^## /{/^```rust/,/^```$/{/^```/d;p}}' README.md | sed "s|^    println!|$write\n&|" >"$place/certifier/src/main.rs"
build certifier
said=$("$target/release/outside-certifier" "$certificate") || fail "README's example fails outside this workspace, see above"
[[ $said == "tasks [10, 10], refused: None" ]] || fail "README's example must print 'tasks [10, 10], refused: None', but prints: $said"
needs certifier | grep -qx highs-sys || fail "the feature certify must need HiGHS, but 'cargo tree' does not list it; this test cannot detect HiGHS"

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
    assert!(bad.reason.is_some(), "a wrong margin is accepted");
    assert!(verdict("{}".to_owned()).is_err_and(|unusable: Unusable| unusable.status == 2));
    Ok(())
}
RUST
build checker
"$target/release/outside-checker" "$certificate" || fail "the program with the feature check does not accept the certificate, see above"
unwanted=$(needs checker | grep -E '^(highs|highs-sys|cmake|bindgen|clang-sys|evenhand-levels|evenhand-lp)$' || true)
[[ -z $unwanted ]] || fail "the feature check must not need ${unwanted//$'\n'/, }"
say "both programs build with the packages and work; the checking program needs $(needs checker | wc -l) crates and no HiGHS"
