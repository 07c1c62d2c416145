#!/usr/bin/env bash
# Finds what the native builds need (GMP: m4; HiGHS: cmake, a C++ compiler and libclang) and
# installs what is missing: as root with apt-get, dnf or apk, as anybody with brew, else through
# pip and `apt-get download` into .tools/, which git ignores. Tools that end up there are named to
# cargo in .cargo/config.toml, so that a plain `cargo build` finds them. Run again, it changes
# nothing.
#
#   scripts/setup.sh                  set up
#   scripts/setup.sh --check          only say what is missing; exit 1 if anything is
#   scripts/setup.sh --needs MANAGER  name the packages of apt-get, dnf, apk or brew for all of it
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
# The last complaint of the command that failed; all its words are in the log.
last_words() { sed -n '/ERROR:\|[Ee]rror:\|^[EW]: /p' "$log" | tail -n 1 | sed "s|\$| (see ${log#"$root"/})|"; }
have() { command -v "$1" >/dev/null 2>&1; }
runs() { "$1" --version >/dev/null 2>&1; }

# --- what is here -----------------------------------------------------------------------------

is_libclang() { # a file that clang-sys would load: libclang-cpp is another library
  case ${1##*/} in
    *-cpp.*) return 1 ;;
    libclang.so | libclang-*.so | libclang.so.* | libclang-*.so.* | libclang.dylib) [[ -f $1 && -r $1 ]] ;;
    *) return 1 ;;
  esac
}

holds_libclang() { # does this folder?
  local file
  for file in "$1"/libclang*.so* "$1"/libclang.dylib; do
    if is_libclang "$file"; then return 0; fi
  done
  return 1
}

# The folders that clang-sys searches by itself, in its order, each on a line.
clang_sys_folders() {
  local llvm_config=${LLVM_CONFIG_PATH:-llvm-config} prefix folder
  if prefix=$("$llvm_config" --prefix 2>/dev/null); then
    printf '%s\n' "$prefix/bin" "$prefix/lib" "$prefix/lib64"
  fi
  tr ':' '\n' <<<"${LD_LIBRARY_PATH:-}:${LIBRARY_PATH:-}"
  # The last two are of macOS.
  for folder in /usr/local/llvm*/lib* /usr/local/lib*/*/* /usr/local/lib*/* /usr/local/lib* \
    /usr/lib*/*/* /usr/lib*/* /usr/lib* \
    /Library/Developer/CommandLineTools/usr/lib /Applications/Xcode.app/Contents/Developer/Toolchains/XcodeDefault.xctoolchain/usr/lib; do
    if [[ -d $folder ]]; then printf '%s\n' "$folder"; fi
  done
}

# Folders where a libclang may be that clang-sys does not look into.
other_folders() {
  local ldconfig folder
  ldconfig=$(PATH=$PATH:/sbin:/usr/sbin command -v ldconfig || true)
  if [[ -n $ldconfig ]]; then
    "$ldconfig" -p 2>/dev/null | sed -n 's|.*=> \(/.*\)/libclang[-.][^/]*$|\1|p'
  fi
  # Those of brew do not stand where compilers look.
  for folder in /opt/llvm*/lib* /opt/*/lib /opt/homebrew/opt/llvm/lib /usr/local/opt/llvm/lib "$tools/python/clang/native"; do
    if [[ -d $folder ]]; then printf '%s\n' "$folder"; fi
  done
}

first_with_libclang() { # of the folders on standard input
  local folder
  while IFS= read -r folder; do
    if [[ -n $folder ]] && holds_libclang "$folder"; then
      printf '%s\n' "$folder"
      return 0
    fi
  done
  return 1
}

cmake_is_recent() { # HiGHS asks for 3.15
  local version
  version=$("$1" --version 2>/dev/null | sed -n 's/^cmake version \([0-9]*\.[0-9]*\).*/\1/p')
  [[ -n $version ]] && { ((${version%%.*} > 3)) || ((${version%%.*} == 3 && ${version##*.} >= 15)); }
}

rust_is_recent() { # the version that Cargo.toml asks for
  local version
  version=$(rustc --version 2>/dev/null | sed -n 's/^rustc \([0-9]*\.[0-9]*\).*/\1/p')
  [[ -n $version ]] && { ((${version%%.*} > ${rust%%.*})) || ((${version%%.*} == ${rust%%.*} && ${version##*.} >= ${rust##*.})); }
}

keg_m4() { # the one of brew, which is not on the PATH
  local m4
  for m4 in /opt/homebrew/opt/m4/bin/m4 /usr/local/opt/m4/bin/m4; do
    if [[ -x $m4 ]]; then
      echo "$m4"
      return 0
    fi
  done
  return 1
}

# Looks for everything. Sets `missing` to the names of what is not here and `settings` to the
# lines that .cargo/config.toml has to hold for what is here but would not be found.
missing=()
settings=()
look() {
  missing=()
  settings=()

  have "${CC:-cc}" || missing+=(cc)
  have "${CXX:-c++}" || missing+=(c++)
  have make || missing+=(make)

  if [[ -n ${CMAKE:-} ]]; then
    cmake_is_recent "$CMAKE" || fail "the environment variable CMAKE names '$CMAKE', which is not a cmake of version 3.15 or later: correct it or unset it"
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
      fail "the environment variable LIBCLANG_PATH names '$LIBCLANG_PATH', which holds no libclang: correct it or unset it"
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
    runs "$M4" || fail "the environment variable M4 names '$M4', which does not run: correct it or unset it"
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

# The first of those that are known here; apt-get, dnf and apk need root, brew refuses it.
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

# libclang1-14 was tried with this bindgen; where the distribution lacks it, its newest.
libclang_package() {
  local names
  names=$(apt-cache pkgnames libclang1- 2>/dev/null || true)
  if [[ -z $names ]] || grep -qx 'libclang1-14' <<<"$names"; then
    echo libclang1-14
  else
    { grep -x 'libclang1-[0-9]*' <<<"$names" || true; } | sort -t- -k2 -n | tail -n 1
  fi
}

# How a manager calls what is missing: cmake, make and m4 have these names everywhere.
package_of() { # manager, name
  case $1:$2 in
    apt-get:cc) echo gcc libc6-dev ;;
    apk:cc) echo gcc musl-dev ;;
    dnf:cc) echo gcc ;;
    apt-get:c++ | apk:c++) echo g++ ;;
    dnf:c++) echo gcc-c++ ;;
    # Compiler and make of macOS come from Apple.
    brew:cc | brew:c++ | brew:make) ;;
    apt-get:libclang) libclang_package ;;
    dnf:libclang) echo clang-libs ;;
    apk:libclang) echo clang-libclang ;;
    brew:libclang) echo llvm ;;
    *) echo "$2" ;;
  esac
}

packages_of() { # manager, names ...: on one line
  local with=$1 name
  shift
  for name in "$@"; do package_of "$with" "$name"; done | paste -sd' ' -
}

# The command that installs these packages.
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

# What somebody can do by hand, as far as the manager is known.
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
    # A source that cannot be reached is no reason to stop, while the others suffice.
    apt-get update >"$log" 2>&1 || true
  fi
  packages=$(packages_of "$with" "${missing[@]}")
  [[ -n $packages ]] || fail "the compiler and make of macOS are needed: run 'xcode-select --install'"
  command=$(command_of "$with" "$packages")
  say "$command"
  # The names hold no spaces.
  $command >>"$log" 2>&1 || fail "$command failed (no network?): $(last_words)"
}

# --- without root -----------------------------------------------------------------------------

# A pip that installs into .tools/python, in `pip`: of a virtual environment where Python can
# make one (Debian's cannot without python3-venv), else the one of Python itself.
find_pip() {
  local python=
  for python in python3 python; do
    if have "$python" && "$python" -c 'import sys; sys.exit(sys.version_info < (3, 7))' 2>/dev/null; then
      break
    fi
    python=
  done
  [[ -n $python ]] || fail "no root and no Python 3: run $(by_hand "${missing[@]}"), or install python3 with pip"
  if "$python" -m venv "$tools/venv" >"$log" 2>&1; then
    pip=("$tools/venv/bin/python" -m pip)
  elif "$python" -m pip --version >/dev/null 2>&1; then
    pip=("$python" -m pip)
  else
    fail "no root, and this Python has neither venv nor pip: run $(by_hand "${missing[@]}"), or install python3-venv"
  fi
}

install_with_pip() { # names of wheels
  local pip=()
  find_pip
  say "pip install $* into .tools/python"
  PIP_USER=0 PIP_REQUIRE_VIRTUALENV=0 "${pip[@]}" install --disable-pip-version-check --no-input --only-binary :all: --upgrade \
    --target "$tools/python" "$@" >"$log" 2>&1 ||
    fail "pip could not install $* (no network?): $(last_words)"
  if [[ -x $tools/python/cmake/data/bin/cmake ]]; then
    chmod +x "$tools/python/cmake/data/bin/"*
    ln -sfn ../python/cmake/data/bin/cmake "$tools/bin/cmake"
  fi
  rm -rf "$tools/venv"
}

# m4 has no wheel (the package of that name on PyPI is something else), so its Debian package is
# unpacked here. Where the machine's package lists are empty, lists of our own are fetched.
install_m4() {
  local folder=$tools/m4 lib
  if ! have apt-get || ! have dpkg; then
    fail "m4 is missing, and without root it can be had only through apt-get and dpkg, which are not here: run $(by_hand m4)"
  fi
  say "apt-get download m4 libsigsegv2 into .tools/m4"
  rm -rf "$folder"
  mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial"
  local own_lists=(-o "Dir::State::Lists=$folder/lists" -o "Dir::Cache=$folder/cache")
  if ! (cd "$folder" && apt-get download m4 libsigsegv2) >"$log" 2>&1; then
    { apt-get "${own_lists[@]}" update &&
      (cd "$folder" && apt-get "${own_lists[@]}" download m4 libsigsegv2); } >>"$log" 2>&1 ||
      fail "apt-get could not download m4 (no network?): $(last_words)"
  fi
  for package in "$folder"/*.deb; do
    dpkg -x "$package" "$folder/root" >>"$log" 2>&1 || fail "dpkg could not unpack $package"
  done
  lib=$(find "$folder/root" -name 'libsigsegv.so.2' -printf '%P\n' -quit)
  rm -rf "$folder/lists" "$folder/cache" "$folder"/*.deb
  cat >"$tools/bin/m4" <<WRAPPER
#!/bin/sh
root=\$(cd "\$(dirname "\$0")/../m4/root" && pwd)
LD_LIBRARY_PATH=\$root/${lib%/*}\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH} exec "\$root/usr/bin/m4" "\$@"
WRAPPER
  chmod +x "$tools/bin/m4"
  runs "$tools/bin/m4" || fail "the m4 that was unpacked in .tools/m4 does not run on this machine: install m4 by hand"
}

install_into_tools() {
  local wheels=()
  local compilers=() name
  for name in cc c++ make; do
    if is_missing "$name"; then compilers+=("$name"); fi
  done
  if ((${#compilers[@]})); then
    fail "a C and C++ compiler and make are needed, and there is no ${compilers[*]}: run $(by_hand "${compilers[@]}")"
  fi
  mkdir -p "$tools/bin"
  if is_missing cmake; then wheels+=(cmake); fi
  if is_missing libclang; then wheels+=(libclang); fi
  if ((${#wheels[@]})); then install_with_pip "${wheels[@]}"; fi
  if is_missing m4; then install_m4; fi
}

# --- telling cargo ----------------------------------------------------------------------------

# Writes .cargo/config.toml for the tools that cargo's build scripts would not find by
# themselves; says so only when the file changes.
tell_cargo() {
  local text names
  if [[ -f $config ]] && ! grep -qxF "$marker" "$config"; then
    local line absent=()
    for line in ${settings[@]+"${settings[@]}"}; do
      grep -q "^${line%% =*}\b" "$config" || absent+=("$line")
    done
    ((${#absent[@]} == 0)) ||
      fail ".cargo/config.toml is not ours to change: under [env] it needs $(printf '%s\n' "${absent[@]}" | paste -sd, | sed 's/,/, /g')"
    return 0
  fi
  if ((${#settings[@]} == 0)); then
    if [[ -f $config ]]; then
      rm "$config"
      say "removed .cargo/config.toml: the tools it named are no longer needed"
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
    *) fail "this set-up knows Linux and macOS only: install cmake, libclang and m4 yourself, then call cargo" ;;
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
    say "everything is here"
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
  if ((changed)); then say "done"; else say "everything is here"; fi
}

main "$@"
