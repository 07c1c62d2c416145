#!/usr/bin/env bash
# Makes the distribution files in target/dist: an archive of both programs, a Debian package, the Python wheel and its
# sources, all sources, the list of components and the checksums. The same commit and tools give the same bytes.
#
#   scripts/dist.sh           packs the build of `make wheel`
#   scripts/dist.sh --twice   packs twice and rebuilds the programs and the module in between; exit 1 if a byte differs
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
target=${CARGO_TARGET_DIR:-$root/target}
programs=$target/release
out=$target/dist
version=$(sed -n '0,/^version = "\(.*\)"$/s//\1/p' Cargo.toml)
# All times in archives are the time of the commit.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC

say() { printf 'dist: %s\n' "$*"; }
fail() {
  printf 'dist: error: %s\n' "$*" >&2
  exit 1
}

if [[ ${1:-} == --twice ]]; then
  "$root/scripts/dist.sh"
  first=$target/dist-first
  rm -rf "$first"
  mv "$out" "$first"
  say "second run: compiling and linking again"
  cargo clean --quiet --release -p evenhand -p evenhand-check -p evenhand-python
  "$root/scripts/wheel.sh"
  "$root/scripts/dist.sh" >/dev/null
  if ! diff "$first/SHA256SUMS" "$out/SHA256SUMS"; then
    fail "the files above differ between the two runs; the files of the first run are in ${first#"$root"/}"
  fi
  rm -rf "$first"
  say "both runs made identical files: $(wc -l <"$out/SHA256SUMS")"
  exit
fi

packed() { # folder, archive: packs the files in a fixed order, without an owner
  tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --format=gnu \
    -C "${1%/*}" -cf - "${1##*/}" |
    gzip -9n >"$2"
}

# The oldest C library that can run both programs. Its version is the newest symbol version that the programs require.
glibc=$(objdump -T "$programs/evenhand" "$programs/evenhand-check" | grep -o 'GLIBC_[0-9][0-9.]*' | sort -uV | tail -n 1)
glibc=${glibc#GLIBC_}
platform=$(uname -m)-linux-glibc$glibc

rm -rf "$out"
made=$out/.made
mkdir -p "$made"
name=evenhand-$version-$platform
python3 scripts/wheel-contents.py "$made/licences" "$out/evenhand-$version.cdx.json"

say "$name.tar.gz: both programs, manual, completions, licences"
DESTDIR=$made scripts/install.sh "/$name" >/dev/null
cp README.md "$made/$name/"
cp -r "$made/licences" "$made/$name/licences"
packed "$made/$name" "$out/$name.tar.gz"

# crates/evenhand/Cargo.toml lists the files of the Debian package.
if command -v dpkg >/dev/null 2>&1; then
  tools=$target/tools
  if ! "$tools/bin/cargo-deb" --version >/dev/null 2>&1; then
    say "installing cargo-deb into ${tools#"$root"/}"
    cargo install --quiet --locked cargo-deb --version '^3' --no-default-features --features gzip --root "$tools" ||
      fail "cargo could not install cargo-deb; check the network and try again"
  fi
  # A fixed folder instead of $target, because the metadata of the crate names it.
  deb=$root/target/deb
  rm -rf "$deb"
  DESTDIR=$deb scripts/install.sh /usr >/dev/null
  mkdir -p "$deb/usr/share/doc/evenhand" "$deb/usr/share/zsh/vendor-completions"
  cp -r "$made/licences/." "$deb/usr/share/doc/evenhand/"
  mv "$deb"/usr/share/zsh/site-functions/* "$deb/usr/share/zsh/vendor-completions/"
  file=evenhand_${version}_$(dpkg --print-architecture).deb
  say "$file"
  "$tools/bin/cargo-deb" --quiet --no-build --no-strip --compress-type gz --manifest-path crates/evenhand/Cargo.toml \
    --output "$out/$file" >/dev/null || fail "cargo-deb could not make the package from $deb"
  rm -rf "$deb"
else
  say "no Debian package: this machine has no dpkg"
fi

# The source package that `pip install` compiles. Only the wheel contains the programs.
say "evenhand-$version.tar.gz: the Python package as sources"
rm -rf bindings/python/licences
cp -r "$made/licences" bindings/python/licences
(cd bindings/python && "$target/python/tools/bin/maturin" sdist --out "$made/sdist") >"$made/log" 2>&1 || {
  cat "$made/log" >&2
  fail "maturin could not pack the sources, see above; 'make wheel' installs maturin"
}
# maturin stores the time of compression, so the archive is packed again with the time of the commit.
mkdir "$made/unpacked"
tar -xzf "$made/sdist/evenhand-$version.tar.gz" -C "$made/unpacked"
packed "$made/unpacked/evenhand-$version" "$out/evenhand-$version.tar.gz"

if git rev-parse --verify -q HEAD >/dev/null; then
  say "evenhand-$version-source.tar.gz: the sources of the last commit"
  git archive --prefix="evenhand-$version/" HEAD | gzip -9n >"$out/evenhand-$version-source.tar.gz"
fi
cp "$target"/wheels/*.whl "$out/"
rm -rf "$made"
(cd "$out" && sha256sum -- * >SHA256SUMS)
say "wrote ${out#"$root"/}:"
cat "$out/SHA256SUMS"
