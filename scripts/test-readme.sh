#!/usr/bin/env bash
# Runs every command that README.md prints, in its order and as it is printed, in a clean copy of these sources, as somebody
# who has just come: root makes a user for it, others get a home folder and an environment of their own. What is printed
# below a command has to be what it says; blocks of Python run in the interpreter that the commands before them chose.
#
# Crates that were compiled here before serve the copy too (those of the workspace are compiled again). Cargo and pip fetch
# what is missing.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
work=$(mktemp -d "${TMPDIR:-/tmp}/evenhand-readme.XXXXXX")
name=readme$$
made_user=

say() { printf 'test-readme: %s\n' "$*"; }
clean() {
  if [[ -n $made_user ]]; then userdel "$name" 2>/dev/null || true; fi
  rm -rf "$work"
}
trap clean EXIT

# The sources as they are, with what is not committed yet; nothing that git ignores.
home=$work/home copy=$work/home/evenhand
mkdir -p "$copy" "$home/.cargo"
(cd "$root" && git ls-files -z --cached --others --exclude-standard | xargs -0 ls -d 2>/dev/null | tar -cf - -T -) | tar -xf - -C "$copy"
if [[ -f $root/.cargo/config.toml ]]; then # tools that the set-up has found or fetched
  cp -r "$root/.cargo" "$copy/"
  if [[ -d $root/.tools ]]; then cp -r "$root/.tools" "$copy/"; fi
fi

# Compiled crates of others, and what cargo has fetched.
if [[ -d $target/release ]]; then
  mkdir -p "$copy/target"
  (cd "$target" && find release -type f ! -name '*evenhand*' ! -path '*evenhand*' \( -path '*/build/*' -o -path '*/.fingerprint/*' -o -name '*.rlib' \
    -o -name '*.rmeta' -o -name '*.so' -o -name '*.d' \) -print0 | tar --null -cf - -T -) | tar -xf - -C "$copy/target"
fi
cargo_home=${CARGO_HOME:-$HOME/.cargo}
for part in registry config.toml; do
  if [[ -e $cargo_home/$part ]]; then cp -a "$cargo_home/$part" "$home/.cargo/"; fi
done
toolchain=$(rustc --print sysroot)

as=()
if ((EUID == 0)) && command -v useradd >/dev/null; then
  # The new user can read neither root's home nor a toolchain in it.
  mkdir "$work/rust"
  cp -a "$toolchain/bin" "$toolchain/lib" "$work/rust/"
  toolchain=$work/rust
  useradd --no-create-home --home-dir "$home" --shell /bin/bash "$name"
  made_user=1
  chown -R "$name" "$work"
  as=(setpriv --reuid "$name" --regid "$(id -g "$name")" --clear-groups)
fi

# What the network needs is kept; the rest of the environment is new.
kept=()
for variable in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY SSL_CERT_FILE SSL_CERT_DIR PIP_CERT PIP_INDEX_URL PIP_FIND_LINKS; do
  if [[ -n ${!variable:-} ]]; then kept+=("$variable=${!variable}"); fi
done
python=$(python3 -c 'import sys; print(sys.executable)')
[[ -r $python && $python != /root/* ]] || python=/usr/bin/python3

say "runs README.md as ${made_user:+a new user }in $copy"
cd "$copy"
"${as[@]}" env -i "${kept[@]}" HOME="$home" USER="$name" LANG=C.UTF-8 CARGO_NET_OFFLINE="${CARGO_NET_OFFLINE:-false}" \
  PATH="$toolchain/bin:$(dirname "$python"):/usr/local/bin:/usr/bin:/bin" \
  "$python" "$copy/scripts/test-readme.py" README.md
