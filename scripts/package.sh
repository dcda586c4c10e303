#!/usr/bin/env bash
# Makes everything that users install, on Debian 12: scripts/package.sh [OPTION…]
#
# Debian packages for x86-64; for other and older systems on x86-64 and aarch64, with the libraries inside, a repository
# for Maven, an index for pip, tarballs of the command, and the plugins of search engines (scripts/artefacts.sh has the
# list).
#
#   --debian   Debian's packages alone, which takes a third of the time
#   --twice    then makes it a second time, without the compiler's cache, and fails if a byte differs
#   --help     this text
#
# What is in the working tree when it begins is packaged, without what git ignores. All is in build/packages afterwards
# (with --twice, as soon as it is made once), with SHA256SUMS, forelock.spdx.json (what it consists of), and what the
# builds said in build.log and older.log. Fails if lintian finds an error or a warning, or blhc a compilation without
# hardening. Uses ccache, so only what has changed since the last call is compiled anew. Installs with apt-get what is
# missing.

# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

twice=no all=yes
for argument in "$@"; do
  case $argument in
    --debian) all=no ;;
    --twice) twice=yes ;;
    --help | -h) show_help; exit 0 ;;
    *) unknown_option "$argument" ;;
  esac
done

scripts/setup.sh --package
needs git
scripts/zookeeper_client.sh
clients=("${FORELOCK_ZOOKEEPER_CLIENT:-$root/build/zookeeper-client}")
if [[ $all == yes ]]; then
  scripts/older_system.sh
  scripts/older_system.sh --arm64
  clients+=("${FORELOCK_OLDER:-$root/build/older}/zookeeper-client"
    "${FORELOCK_OLDER_ARM64:-$root/build/older-arm64}/zookeeper-client")
fi
packages=$root/build/packages
source_dir=$packages/source
mkdir -p "$packages"
exec 9>"$packages/lock"
flock 9
# Debian's compiler makes programs that can be anywhere in memory without a flag. blhc asks for -g itself, not for -g1,
# and looks below the line with which Debian's builds begin.
hardened() {
  blhc --bindnow --ignore-flag -g "$1" || die "blhc finds the above: flags are missing in $1"
}
for client in "${clients[@]}"; do
  { echo 'dpkg-buildpackage: info: source package zookeeper'
    cat -- "$client/build.log"
  } >"$packages/zookeeper-client.log"
  hardened "$packages/zookeeper-client.log"
done

# The same for the same commit, whenever and wherever it is built.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH TZ=UTC LC_ALL=C.UTF-8
export FORELOCK_ZOOKEEPER_CLIENT=${FORELOCK_ZOOKEEPER_CLIENT:-$root/build/zookeeper-client}
# The copy of the source is as new as its compilation, which is no reason to read all of it again.
export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros,include_file_mtime,include_file_ctime}
# debhelper gives its commands another home, and with it another cache, which would be gone with the source.
CCACHE_DIR=$(ccache --get-config cache_dir)
export CCACHE_DIR
DEB_BUILD_OPTIONS=parallel=$(parallel_jobs)
export DEB_BUILD_OPTIONS

# Both times the same, whatever becomes of the working tree meanwhile.
snapshot=$(mktemp "$packages/source.XXXXXX.tar")
trap 'rm -f -- "$snapshot"' EXIT
git ls-files -z --cached --others --exclude-standard --deduplicate |
  while IFS= read -r -d '' file; do [[ ! -e $file && ! -L $file ]] || printf '%s\0' "$file"; done |
  tar --create --null --no-recursion --files-from=- >"$snapshot"

# make_packages FOLDER CMAKE-OPTION...: from a fresh copy of the source, which is always in the same place.
make_packages() {
  local into=$1
  shift
  rm -rf -- "$source_dir" "$into"
  mkdir -p "$source_dir" "$into"
  tar --extract --file "$snapshot" --directory "$source_dir"
  say "Debian's packages ($(date +%T))"
  (cd "$source_dir" && FORELOCK_CMAKE_OPTIONS="$*" FORELOCK_DEBS=$into dpkg-buildpackage --build=binary --no-sign \
    --no-pre-clean "--buildinfo-file=$into/forelock.buildinfo" "--buildinfo-option=-u$into" \
    "--changes-file=$into/forelock.changes" "--changes-option=-u$into") >"$into/build.log" 2>&1 ||
    { tail -n 40 "$into/build.log" >&2; die "the build failed ($into/build.log)"; }
  rm -f -- "$into"/forelock.{buildinfo,changes}
  if [[ $all == yes ]]; then
    say "What runs on other systems ($(date +%T))"
    echo 'dpkg-buildpackage: info: source package forelock' >"$into/older.log"
    scripts/artefacts.sh "$source_dir" "$into" "$@" >>"$into/older.log" 2>&1 ||
      { tail -n 40 "$into/older.log" >&2; die "the build for older systems failed ($into/older.log)"; }
  fi
  local made
  mapfile -d '' made < <(shopt -s nullglob; printf '%s\0' "$into"/*.{deb,tar.gz,zip} "$into"/python/forelock/*.whl \
    "$into"/maven/org/forelock/forelock/*/forelock-[0-9]*[0-9].jar)
  /usr/bin/python3 scripts/sbom.py "$FORELOCK_ZOOKEEPER_CLIENT" "${made[@]}" >"$into/forelock.spdx.json"
  (cd "$into" && find . -type f ! -name '*.log' ! -name SHA256SUMS -printf '%P\0' | sort --zero-terminated |
    xargs --null sha256sum -- >"$into/SHA256SUMS")
  rm -rf -- "$source_dir"
}

new=$packages/new
make_packages "$new" -DCMAKE_CXX_COMPILER_LAUNCHER=ccache
say "Whether that is as it should be ($(date +%T))"
lintian --fail-on error,warning --tag-display-limit 0 --suppress-tags "$(printf '%s,' \
  bogus-mail-host initial-upload-closes-no-bugs)" "$new"/*.deb || die "lintian finds the above"
hardened "$new/build.log"
# By itself: its compiler makes such programs by a flag, which is then asked for everywhere.
[[ $all == no ]] || hardened "$new/older.log"
rm -rf -- "$packages"/*.{deb,tar.gz,zip} "$packages"/{maven,python}
mv -- "$new"/* "$packages/"
rmdir "$new"
if [[ $twice == yes ]]; then
  again=$packages/again
  say "The same once more"
  make_packages "$again"
  diff "$packages/SHA256SUMS" "$again/SHA256SUMS" || die "the above is not the same when it is made again ($again)"
  rm -rf -- "$again"
fi
cd "$packages"
cut -d' ' -f3- SHA256SUMS | xargs --delimiter='\n' ls -l --
