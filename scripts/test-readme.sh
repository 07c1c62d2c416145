#!/usr/bin/env bash
# Runs every command of README.md, in order and unchanged, in a clean copy of these sources, with a separate home folder and
# environment. A command must print the text that README.md shows below it. Python blocks run in the interpreter that the
# earlier commands chose.
#
#   scripts/test-readme.sh             reuses dependencies that are already compiled
#   NEW_USER=1 scripts/test-readme.sh  root creates a new user, which compiles everything: at least ten minutes
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
work=$(mktemp -d "${TMPDIR:-/tmp}/evenhand-readme.XXXXXX")
name=readme$$
made_user=

say() { printf 'test-readme: %s\n' "$*"; }
clean() {
  if [[ -n $made_user ]]; then userdel -f "$name" 2>/dev/null || true; fi
  rm -rf "$work"
}
trap clean EXIT

# Copies the sources with uncommitted changes, but without the files that git ignores.
home=$work/home copy=$work/home/evenhand
mkdir -p "$copy"
(cd "$root" && git ls-files -z --cached --others --exclude-standard | xargs -0 ls -d 2>/dev/null | tar -cf - -T -) | tar -xf - -C "$copy"
if [[ -f $root/.cargo/config.toml ]]; then # tools that the set-up found or downloaded
  cp -r "$root/.cargo" "$copy/"
  if [[ -d $root/.tools ]]; then cp -r "$root/.tools" "$copy/"; fi
fi

toolchain=$(rustc --print sysroot)
python=$(python3 -c 'import sys; print(sys.executable)')
cargo_home=${CARGO_HOME:-$HOME/.cargo}
as=()
if [[ -n ${NEW_USER:-} ]]; then
  # The new user cannot read files in root's home.
  cp -a "$toolchain/bin" "$toolchain/lib" "$work/"
  toolchain=$work
  python=/usr/bin/python3
  mkdir "$home/.cargo"
  for part in registry config.toml; do
    if [[ -e $cargo_home/$part ]]; then cp -a "$cargo_home/$part" "$home/.cargo/"; fi
  done
  cargo_home=$home/.cargo
  useradd --no-create-home --home-dir "$home" --shell /bin/bash "$name"
  made_user=1
  chown -R "$name" "$work"
  as=(setpriv --reuid "$name" --regid "$(id -g "$name")" --clear-groups)
elif [[ -d $target/release ]]; then
  mkdir -p "$copy/target"
  # The posix format keeps fractions of a second in file times. cargo needs them to compare the ages of files.
  (cd "$target" && find release -type f ! -path '*evenhand*' \( -path '*/build/*' -o -path '*/.fingerprint/*' -o -name '*.rlib' \
    -o -name '*.rmeta' -o -name '*.so' -o -name '*.d' \) -print0 | tar --null --format=posix -cf - -T -) | tar -xf - -C "$copy/target"
fi

# Variables for the network are kept; the rest of the environment is new.
kept=()
for variable in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY SSL_CERT_FILE SSL_CERT_DIR PIP_CERT PIP_INDEX_URL PIP_FIND_LINKS; do
  if [[ -n ${!variable:-} ]]; then kept+=("$variable=${!variable}"); fi
done
say "running README.md in $copy${made_user:+ as a new user}"
cd "$copy"
"${as[@]}" env -i "${kept[@]}" HOME="$home" CARGO_HOME="$cargo_home" LANG=C.UTF-8 \
  PATH="$toolchain/bin:$(dirname "$python"):/usr/local/bin:/usr/bin:/bin" \
  "$python" "$copy/scripts/test-readme.py" README.md
