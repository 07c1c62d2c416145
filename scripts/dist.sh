#!/usr/bin/env bash
# Makes what can be handed out in target/dist, the same bytes for the same commit and tools: an archive of both
# programs, a Debian package, the Python wheel, the sources, the list of components and the sums of all.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
target=${CARGO_TARGET_DIR:-$root/target}
programs=$target/release
out=$target/dist
version=$(sed -n '0,/^version = "\(.*\)"$/s//\1/p' Cargo.toml)
# All times in archives are that of the commit.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC

say() { printf 'dist: %s\n' "$*"; }

packed() { # folder, archive: its files in order, of nobody
  tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -C "${1%/*}" -cf - "${1##*/}" |
    gzip -9n >"$2"
}

# The oldest C library on which both programs run: the newest version of a symbol that they ask for.
glibc=$(objdump -T "$programs/evenhand" "$programs/evenhand-check" | grep -o 'GLIBC_[0-9][0-9.]*' | sort -uV | tail -n 1)
platform=$(uname -m)-linux-glibc${glibc#GLIBC_}

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

if command -v dpkg-deb >/dev/null 2>&1; then
  architecture=$(dpkg --print-architecture)
  say "evenhand_${version}_$architecture.deb"
  DESTDIR=$made/deb scripts/install.sh /usr >/dev/null
  mkdir -p "$made/deb/usr/share/doc/evenhand" "$made/deb/DEBIAN"
  cp -r "$made/licences/." "$made/deb/usr/share/doc/evenhand/"
  mv "$made/deb/usr/share/zsh/site-functions" "$made/deb/usr/share/zsh/vendor-completions"
  gzip -9n "$made"/deb/usr/share/man/man1/*.1
  cat >"$made/deb/DEBIAN/control" <<CONTROL
Package: evenhand
Version: $version
Architecture: $architecture
Maintainer: The Evenhand authors <evenhand@localhost>
Depends: libc6 (>= ${glibc#GLIBC_}), libstdc++6, libgcc-s1
Section: science
Priority: optional
Installed-Size: $(du -sk "$made/deb/usr" | cut -f1)
Description: fair allocations of several resources, proven in exact arithmetic
 Shares the resources of a machine or a cluster among users by the mechanisms
 of the literature, and proves in rational arithmetic which axioms of fairness
 the result meets. evenhand-check verifies such a proof on its own.
CONTROL
  find "$made/deb" -exec touch -hd "@$SOURCE_DATE_EPOCH" {} +
  dpkg-deb --root-owner-group -Zgzip --build "$made/deb" "$out/evenhand_${version}_$architecture.deb" >/dev/null
else
  say "no Debian package: dpkg-deb is not here"
fi

if git rev-parse --verify -q HEAD >/dev/null; then
  say "evenhand-$version-source.tar.gz: the sources of the last commit"
  git archive --prefix="evenhand-$version/" HEAD | gzip -9n >"$out/evenhand-$version-source.tar.gz"
fi
cp "$target"/wheels/*.whl "$out/"
rm -rf "$made"
(cd "$out" && sha256sum -- * >SHA256SUMS)
say "wrote ${out#"$root"/}:"
cat "$out/SHA256SUMS"
