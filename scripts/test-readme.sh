#!/usr/bin/env bash
# Runs every command that README.md prints, in its order and as it is printed, in a clean copy of these sources, with a home
# folder and an environment of their own. What is printed below a command has to be what it says; blocks of Python run in
# the interpreter that the commands before them chose.
#
#   scripts/test-readme.sh             crates of others that were compiled here before serve the copy too
#   NEW_USER=1 scripts/test-readme.sh  root makes a user for it, for whom everything is compiled: ten minutes and more
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

# The sources as they are, with what is not committed yet; nothing that git ignores.
home=$work/home copy=$work/home/evenhand
mkdir -p "$copy"
(cd "$root" && git ls-files -z --cached --others --exclude-standard | xargs -0 ls -d 2>/dev/null | tar -cf - -T -) | tar -xf - -C "$copy"
if [[ -f $root/.cargo/config.toml ]]; then # tools that the set-up has found or fetched
  cp -r "$root/.cargo" "$copy/"
  if [[ -d $root/.tools ]]; then cp -r "$root/.tools" "$copy/"; fi
fi

toolchain=$(rustc --print sysroot)
python=$(python3 -c 'import sys; print(sys.executable)')
cargo_home=${CARGO_HOME:-$HOME/.cargo}
as=()
if [[ -n ${NEW_USER:-} ]]; then
  # The new user can read neither root's home nor what is in it.
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
  # In a format that keeps parts of a second, by which cargo sees what is older than what.
  (cd "$target" && find release -type f ! -path '*evenhand*' \( -path '*/build/*' -o -path '*/.fingerprint/*' -o -name '*.rlib' \
    -o -name '*.rmeta' -o -name '*.so' -o -name '*.d' \) -print0 | tar --null --format=posix -cf - -T -) | tar -xf - -C "$copy/target"
fi

# What the network needs is kept; the rest of the environment is new.
kept=()
for variable in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY SSL_CERT_FILE SSL_CERT_DIR PIP_CERT PIP_INDEX_URL PIP_FIND_LINKS; do
  if [[ -n ${!variable:-} ]]; then kept+=("$variable=${!variable}"); fi
done
say "runs README.md in $copy${made_user:+ as a new user}"
cd "$copy"
"${as[@]}" env -i "${kept[@]}" HOME="$home" CARGO_HOME="$cargo_home" LANG=C.UTF-8 \
  PATH="$toolchain/bin:$(dirname "$python"):/usr/local/bin:/usr/bin:/bin" \
  "$python" "$copy/scripts/test-readme.py" README.md
