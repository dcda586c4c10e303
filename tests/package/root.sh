# shellcheck shell=bash
# What the tests of packages have in common; to be sourced. Their first argument is the source, and build/packages in it
# has what scripts/package.sh has made.
source_dir=$(cd -- "$1" && pwd)
packages=$source_dir/build/packages
arguments=("$@")
step() { printf '== %s\n' "$*"; }
fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }

# own_space NAME MMDEBSTRAP-OPTION...: the rest of the script runs in a process space of its own, with which everything
# ends that it starts. $work is a folder that is gone afterwards; $base a system that mmdebstrap has filled, kept in
# build/packages-root. It needs root and, the first time, Debian's mirrors.
own_space() {
  base=$source_dir/build/packages-root/$1.tar
  if [[ -n ${FORELOCK_TEST_WORK:-} ]]; then
    work=$FORELOCK_TEST_WORK
    unset FORELOCK_TEST_WORK
    return
  fi
  [[ $(id -u) -eq 0 ]] || { echo "${0##*/}: only root can enter another root" >&2; exit 77; }
  if [[ ! -f $base ]]; then
    mkdir -p "$(dirname -- "$base")"
    mmdebstrap --quiet "${@:2}" "$base.new.tar"
    mv -- "$base.new.tar" "$base"
  fi
  work=$(mktemp -d)
  trap 'rm -rf --one-file-system -- "$work"' EXIT
  FORELOCK_TEST_WORK=$work unshare --mount --pid --fork --kill-child "$0" "${arguments[@]}"
  exit
}

# fill_root: $root is that system.
fill_root() {
  root=$work/root
  mkdir -p "$root"
  tar --extract --file "$base" --directory "$root" --exclude './dev/*'
  mkdir -p "$root"/{proc,dev}
  mount -t proc proc "$root/proc"
  mount --bind /dev "$root/dev"
}

# own_command: $forelock is the command of the Debian package, in $work.
own_command() {
  dpkg-deb -x "$packages"/forelock_*.deb "$work/here"
  forelock=$work/here/usr/bin/forelock
  version=$(dpkg-deb -f "$packages"/forelock_*.deb Version)
}

# unpack_plugins FOLDER: all that should have been made, each into a folder of its own; $plugins is their number. Those
# that need Java 21 to be made are there where it is.
unpack_plugins() {
  local lines=(opensearch-2 elasticsearch-7 elasticsearch-8) line found
  # shellcheck disable=SC2016  # of the other shell
  if [[ -n $(bash -c 'source "$1/scripts/lib.sh" && newer_java' bash "$source_dir") ]]; then
    lines+=(opensearch-3 elasticsearch-9)
  fi
  plugins=${#lines[@]}
  for line in "${lines[@]}"; do
    found=("$packages/forelock-$version-for-$line".*.zip)
    [[ ${#found[@]} -eq 1 && -f ${found[0]} ]] || fail "there is not one plugin for $line: ${found[*]}"
    /usr/bin/python3 -m zipfile -e "${found[0]}" "$1/$(basename "${found[0]}" .zip)"
  done
  found=("$packages"/forelock-*-for-*.zip)
  [[ ${#found[@]} -eq $plugins ]] || fail "$plugins plugins are expected: ${found[*]}"
}

# with_server COMMAND...: beside a ZooKeeper of this machine; it is told where that is.
with_server() {
  "$forelock" dev -- env -u FORELOCK_CONFIG "$@"
}

# held: what languages/Held.java or held.py has said on standard input: a lock, and a queue of this version.
held() {
  tee "$work/said"
  grep -qE '^held P1 with token [1-9][0-9]*$' "$work/said" || fail "no lock: $(cat "$work/said")"
  grep -qxF "a queue of $version" "$work/said" || fail "no queue of this version: $(cat "$work/said")"
}

# compile_held JAR FOLDER
compile_held() {
  javac --release 11 -Xlint:all -Werror -cp "$1" -d "$2" "$source_dir/tests/package/languages/Held.java"
}
