#!/usr/bin/env bash
# Looks for the tools of the native builds (GMP: m4; HiGHS: cmake, a C++ compiler and libclang) and
# installs missing tools. Root uses apt-get, dnf or apk; any user can use brew. Otherwise pip and
# `apt-get download` install into .tools/, which git ignores. The script then lists the tools of
# .tools/ in .cargo/config.toml, so that a plain `cargo build` finds them. A second run changes
# no file.
#
#   scripts/setup.sh                  installs missing tools
#   scripts/setup.sh --check          names missing tools; exit 1 if there are any
#   scripts/setup.sh --needs MANAGER  lists all packages for apt-get, dnf, apk or brew
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tools=$root/.tools
config=$root/.cargo/config.toml
marker='# Written by scripts/setup.sh; delete this file and .tools/ to start again.'
log=$tools/setup.log

say() { printf 'set-up: %s\n' "$*"; }
fail() {
  printf 'set-up: error: %s\n' "$*" >&2
  exit 1
}
# Prints the last error line of the failed command. The log has the full output.
last_words() { sed -n '/ERROR:\|[Ee]rror:\|^[EW]: /p' "$log" | tail -n 1 | sed "s|\$| (see ${log#"$root"/})|"; }
have() { command -v "$1" >/dev/null 2>&1; }
runs() { "$1" --version >/dev/null 2>&1; }

# --- tools on this machine -----------------------------------------------------------------------------

is_libclang() { # file: would clang-sys load it? libclang-cpp is a different library
  case ${1##*/} in
    *-cpp.*) return 1 ;;
    libclang.so | libclang-*.so | libclang.so.* | libclang-*.so.* | libclang.dylib) [[ -f $1 && -r $1 ]] ;;
    *) return 1 ;;
  esac
}

holds_libclang() { # folder: does it contain a libclang?
  local file
  for file in "$1"/libclang*.so* "$1"/libclang.dylib; do
    if is_libclang "$file"; then return 0; fi
  done
  return 1
}

# Prints the folders that clang-sys searches by default, in its order, one on each line.
clang_sys_folders() {
  local llvm_config=${LLVM_CONFIG_PATH:-llvm-config} prefix folder
  if prefix=$("$llvm_config" --prefix 2>/dev/null); then
    printf '%s\n' "$prefix/bin" "$prefix/lib" "$prefix/lib64"
  fi
  tr ':' '\n' <<<"${LD_LIBRARY_PATH:-}:${LIBRARY_PATH:-}"
  # The last two folders exist on macOS.
  for folder in /usr/local/llvm*/lib* /usr/local/lib*/*/* /usr/local/lib*/* /usr/local/lib* \
    /usr/lib*/*/* /usr/lib*/* /usr/lib* \
    /Library/Developer/CommandLineTools/usr/lib /Applications/Xcode.app/Contents/Developer/Toolchains/XcodeDefault.xctoolchain/usr/lib; do
    if [[ -d $folder ]]; then printf '%s\n' "$folder"; fi
  done
}

# Prints further folders that may contain a libclang and that clang-sys does not search.
other_folders() {
  local ldconfig folder
  ldconfig=$(PATH=$PATH:/sbin:/usr/sbin command -v ldconfig || true)
  if [[ -n $ldconfig ]]; then
    "$ldconfig" -p 2>/dev/null | sed -n 's|.*=> \(/.*\)/libclang[-.][^/]*$|\1|p'
  fi
  # Compilers do not search the folders of brew by default.
  for folder in /opt/llvm*/lib* /opt/*/lib /opt/homebrew/opt/llvm/lib /usr/local/opt/llvm/lib "$tools/python/clang/native"; do
    if [[ -d $folder ]]; then printf '%s\n' "$folder"; fi
  done
}

first_with_libclang() { # prints the first folder of standard input that contains a libclang
  local folder
  while IFS= read -r folder; do
    if [[ -n $folder ]] && holds_libclang "$folder"; then
      printf '%s\n' "$folder"
      return 0
    fi
  done
  return 1
}

cmake_is_recent() { # HiGHS needs 3.15
  local version
  version=$("$1" --version 2>/dev/null | sed -n 's/^cmake version \([0-9]*\.[0-9]*\).*/\1/p')
  [[ -n $version ]] && { ((${version%%.*} > 3)) || ((${version%%.*} == 3 && ${version##*.} >= 15)); }
}

rust_is_recent() { # at least the version in Cargo.toml
  local version
  version=$(rustc --version 2>/dev/null | sed -n 's/^rustc \([0-9]*\.[0-9]*\).*/\1/p')
  [[ -n $version ]] && { ((${version%%.*} > ${rust%%.*})) || ((${version%%.*} == ${rust%%.*} && ${version##*.} >= ${rust##*.})); }
}

keg_m4() { # prints the path of brew's m4, which is not on the PATH
  local m4
  for m4 in /opt/homebrew/opt/m4/bin/m4 /usr/local/opt/m4/bin/m4; do
    if [[ -x $m4 ]]; then
      echo "$m4"
      return 0
    fi
  done
  return 1
}

# Looks for all tools. Sets `missing` to the names of missing tools. Sets `settings` to the lines
# that .cargo/config.toml needs for tools that cargo would not find by itself.
missing=()
settings=()
look() {
  missing=()
  settings=()

  have "${CC:-cc}" || missing+=(cc)
  have "${CXX:-c++}" || missing+=(c++)
  have make || missing+=(make)

  if [[ -n ${CMAKE:-} ]]; then
    cmake_is_recent "$CMAKE" || fail "the environment variable CMAKE names '$CMAKE', which is no cmake of version 3.15 or later: correct the variable or unset it"
  elif cmake_is_recent cmake; then
    :
  elif cmake_is_recent "$tools/bin/cmake"; then
    settings+=('CMAKE = { value = ".tools/bin/cmake", relative = true }')
  else
    missing+=(cmake)
  fi

  local folder
  if [[ -n ${LIBCLANG_PATH:-} ]]; then
    holds_libclang "$LIBCLANG_PATH" || is_libclang "$LIBCLANG_PATH" ||
      fail "the environment variable LIBCLANG_PATH names '$LIBCLANG_PATH', which contains no libclang: correct the variable or unset it"
  elif first_with_libclang < <(clang_sys_folders) >/dev/null; then
    :
  elif folder=$(first_with_libclang < <(other_folders)); then
    if [[ $folder == "$root"/* ]]; then
      settings+=("LIBCLANG_PATH = { value = \"${folder#"$root"/}\", relative = true }")
    else
      settings+=("LIBCLANG_PATH = \"$folder\"")
    fi
  else
    missing+=(libclang)
  fi

  if [[ -n ${M4:-} ]]; then
    runs "$M4" || fail "the environment variable M4 names '$M4', which does not run: correct the variable or unset it"
  elif have m4 || have gm4 || have gnum4; then
    : # the names that GMP's configure tries
  elif folder=$(keg_m4); then
    settings+=("M4 = \"$folder\"")
  elif runs "$tools/bin/m4"; then
    settings+=('M4 = { value = ".tools/bin/m4", relative = true }')
  else
    missing+=(m4)
  fi
}

is_missing() { [[ " ${missing[*]-} " == *" $1 "* ]]; }

# --- with a package manager -------------------------------------------------------------------

# Prints the first supported manager on this machine. apt-get, dnf and apk need root; brew refuses to run as root.
manager() {
  local name
  for name in apt-get dnf apk brew; do
    if have "$name"; then
      echo "$name"
      return 0
    fi
  done
  return 1
}

# This version of bindgen was tested with libclang1-14. A distribution without it gets its newest libclang.
libclang_package() {
  local names
  names=$(apt-cache pkgnames libclang1- 2>/dev/null || true)
  if [[ -z $names ]] || grep -qx 'libclang1-14' <<<"$names"; then
    echo libclang1-14
  else
    { grep -x 'libclang1-[0-9]*' <<<"$names" || true; } | sort -t- -k2 -n | tail -n 1
  fi
}

# Prints the manager's package for a tool. cmake, make and m4 have the same name for every manager.
package_of() { # manager, name
  case $1:$2 in
    apt-get:cc) echo gcc libc6-dev ;;
    apk:cc) echo gcc musl-dev ;;
    dnf:cc) echo gcc ;;
    apt-get:c++ | apk:c++) echo g++ ;;
    dnf:c++) echo gcc-c++ ;;
    # On macOS, Apple provides the compiler and make.
    brew:cc | brew:c++ | brew:make) ;;
    apt-get:libclang) libclang_package ;;
    dnf:libclang) echo clang-libs ;;
    apk:libclang) echo clang-libclang ;;
    brew:libclang) echo llvm ;;
    *) echo "$2" ;;
  esac
}

packages_of() { # manager, names ...: prints the packages on one line
  local with=$1 name
  shift
  for name in "$@"; do package_of "$with" "$name"; done | paste -sd' ' -
}

# Prints the command that installs these packages.
command_of() { # manager, packages ...
  local with=$1
  shift
  case $with in
    apt-get) echo "apt-get install -y --no-install-recommends $*" ;;
    apk) echo "apk add $*" ;;
    brew) echo "brew install $*" ;;
    *) echo "$with install -y $*" ;;
  esac
}

# Prints the command to run by hand, or general advice if no manager is known.
by_hand() { # names ...
  local with
  if with=$(manager); then
    if [[ $with == brew ]]; then echo "'$(command_of brew "$(packages_of brew "$@")")'"; else echo "as root '$(command_of "$with" "$(packages_of "$with" "$@")")'"; fi
  else
    echo "install $* with this machine's package manager ('scripts/setup.sh --needs dnf' names the packages of one)"
  fi
}

install_with() { # manager
  local with=$1 packages command
  if [[ $with == apt-get ]]; then
    export DEBIAN_FRONTEND=noninteractive
    say "apt-get update"
    # One unreachable source does not stop the set-up, because the other sources may have all packages.
    apt-get update >"$log" 2>&1 || true
  fi
  packages=$(packages_of "$with" "${missing[@]}")
  [[ -n $packages ]] || fail "the C and C++ compiler and make of macOS are missing: run 'xcode-select --install'"
  command=$(command_of "$with" "$packages")
  say "$command"
  # Unquoted on purpose: package names contain no spaces.
  $command >>"$log" 2>&1 || fail "$command failed; check the network: $(last_words)"
}

# --- without root -----------------------------------------------------------------------------

# Sets `pip` to a pip that can install into .tools/python. Prefers the pip of a virtual environment, if
# Python can make one (Debian needs python3-venv for it). Otherwise uses the pip of Python itself.
find_pip() {
  local python=
  for python in python3 python; do
    if have "$python" && "$python" -c 'import sys; sys.exit(sys.version_info < (3, 7))' 2>/dev/null; then
      break
    fi
    python=
  done
  [[ -n $python ]] || fail "neither root rights nor Python 3 are available: run $(by_hand "${missing[@]}"), or install python3 with pip"
  if "$python" -m venv "$tools/venv" >"$log" 2>&1; then
    pip=("$tools/venv/bin/python" -m pip)
  elif "$python" -m pip --version >/dev/null 2>&1; then
    pip=("$python" -m pip)
  else
    fail "no root rights, and this Python has neither venv nor pip: run $(by_hand "${missing[@]}"), or install python3-venv"
  fi
}

install_with_pip() { # names of wheels
  local pip=()
  find_pip
  say "pip install $* into .tools/python"
  PIP_USER=0 PIP_REQUIRE_VIRTUALENV=0 "${pip[@]}" install --disable-pip-version-check --no-input --only-binary :all: --upgrade \
    --target "$tools/python" "$@" >"$log" 2>&1 ||
    fail "pip could not install $*; check the network: $(last_words)"
  if [[ -x $tools/python/cmake/data/bin/cmake ]]; then
    chmod +x "$tools/python/cmake/data/bin/"*
    ln -sfn ../python/cmake/data/bin/cmake "$tools/bin/cmake"
  fi
  rm -rf "$tools/venv"
}

# m4 has no wheel (the package m4 on PyPI is unrelated), so the Debian package is unpacked here. If the
# machine's package lists are empty, separate lists are downloaded.
install_m4() {
  local folder=$tools/m4 lib
  if ! have apt-get || ! have dpkg; then
    fail "m4 is missing; without root, this script needs apt-get and dpkg to install it, and they are missing too: run $(by_hand m4)"
  fi
  say "apt-get download m4 libsigsegv2 into .tools/m4"
  rm -rf "$folder"
  mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial"
  local own_lists=(-o "Dir::State::Lists=$folder/lists" -o "Dir::Cache=$folder/cache")
  if ! (cd "$folder" && apt-get download m4 libsigsegv2) >"$log" 2>&1; then
    { apt-get "${own_lists[@]}" update &&
      (cd "$folder" && apt-get "${own_lists[@]}" download m4 libsigsegv2); } >>"$log" 2>&1 ||
      fail "apt-get could not download m4; check the network: $(last_words)"
  fi
  for package in "$folder"/*.deb; do
    dpkg -x "$package" "$folder/root" >>"$log" 2>&1 || fail "dpkg could not unpack $package: $(last_words)"
  done
  lib=$(find "$folder/root" -name 'libsigsegv.so.2' -printf '%P\n' -quit)
  rm -rf "$folder/lists" "$folder/cache" "$folder"/*.deb
  cat >"$tools/bin/m4" <<WRAPPER
#!/bin/sh
root=\$(cd "\$(dirname "\$0")/../m4/root" && pwd)
LD_LIBRARY_PATH=\$root/${lib%/*}\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH} exec "\$root/usr/bin/m4" "\$@"
WRAPPER
  chmod +x "$tools/bin/m4"
  runs "$tools/bin/m4" || fail "the m4 in .tools/m4 does not run on this machine: run $(by_hand m4)"
}

install_into_tools() {
  local wheels=()
  local compilers=() name
  for name in cc c++ make; do
    if is_missing "$name"; then compilers+=("$name"); fi
  done
  if ((${#compilers[@]})); then
    fail "missing: ${compilers[*]}; a C and C++ compiler and make are needed: run $(by_hand "${compilers[@]}")"
  fi
  mkdir -p "$tools/bin"
  if is_missing cmake; then wheels+=(cmake); fi
  if is_missing libclang; then wheels+=(libclang); fi
  if ((${#wheels[@]})); then install_with_pip "${wheels[@]}"; fi
  if is_missing m4; then install_m4; fi
}

# --- telling cargo ----------------------------------------------------------------------------

# Writes .cargo/config.toml for the tools that cargo's build scripts would not find by
# themselves. Prints a message only if the file changes.
tell_cargo() {
  local text names
  if [[ -f $config ]] && ! grep -qxF "$marker" "$config"; then
    local line absent=()
    for line in ${settings[@]+"${settings[@]}"}; do
      grep -q "^${line%% =*}\b" "$config" || absent+=("$line")
    done
    ((${#absent[@]} == 0)) ||
      fail "this script did not write .cargo/config.toml and does not change it: add under [env] $(printf '%s\n' "${absent[@]}" | paste -sd, | sed 's/,/, /g')"
    return 0
  fi
  if ((${#settings[@]} == 0)); then
    if [[ -f $config ]]; then
      rm "$config"
      say "removed .cargo/config.toml: cargo finds all tools without it"
      changed=1
    fi
    return 0
  fi
  names=$(printf '%s\n' "${settings[@]%% =*}" | paste -sd' ' -)
  text=$(printf '%s\n' "$marker" '[env]' "${settings[@]}")
  if [[ ! -f $config || $(<"$config") != "$text" ]]; then
    mkdir -p "${config%/*}"
    printf '%s\n' "$text" >"$config.tmp"
    mv "$config.tmp" "$config"
    say "wrote .cargo/config.toml, so that cargo finds $names"
    changed=1
  fi
}

# --- main -------------------------------------------------------------------------------------

main() {
  changed=0
  shopt -s nullglob
  if [[ ${1:-} == --needs ]]; then
    case ${2:-} in
      apt-get | dnf | apk | brew) packages_of "$2" cc c++ make cmake libclang m4 ;;
      *) fail "--needs takes apt-get, dnf, apk or brew, not '${2:-}'" ;;
    esac
    return 0
  fi
  case $(uname -s) in
    Linux | Darwin) ;;
    *) fail "this script supports only Linux and macOS, not $(uname -s): install cmake, libclang and m4 yourself, then run cargo" ;;
  esac
  local rust
  rust=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' "$root/Cargo.toml")
  if ! have cargo; then
    if [[ -x ${CARGO_HOME:-$HOME/.cargo}/bin/cargo ]]; then
      fail "cargo is installed but not on the PATH: run '. ${CARGO_HOME:-$HOME/.cargo}/env' first"
    fi
    fail "cargo is missing: install Rust $rust or later first (https://rustup.rs)"
  fi
  have rustc || fail "rustc is missing: install Rust $rust or later first (https://rustup.rs)"
  rust_is_recent ||
    fail "Rust $rust or later is needed, and $(rustc --version 2>&1 | head -n 1) is here: run 'rustup update stable' (https://rustup.rs)"

  look
  if [[ ${1:-} == --check ]]; then
    ((${#missing[@]} == 0)) || fail "missing: ${missing[*]}; run $(by_hand "${missing[@]}")"
    say "all tools are available"
    return 0
  fi
  if ((${#missing[@]})); then
    changed=1
    say "missing: ${missing[*]}"
    mkdir -p "$tools"
    local with
    if with=$(manager) && { [[ $with == brew ]] || ((EUID == 0)); }; then
      install_with "$with"
    else
      install_into_tools
    fi
    look
    ((${#missing[@]} == 0)) || fail "still missing after the installation: ${missing[*]}"
  fi
  tell_cargo
  if ((changed)); then say "done"; else say "all tools are available"; fi
}

main "$@"
