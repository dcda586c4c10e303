#!/usr/bin/env bash
# Makes everything that users install, on Debian 12: scripts/package.sh [OPTION…]
#
# Debian packages for x86-64; for other and older systems on x86-64 and aarch64, with the libraries inside, a repository
# for Maven, an index for pip, tarballs of the command, and the plugins of search engines (scripts/artefacts.sh has the
# list).
#
#   --twice    makes it a second time, without the compiler's cache, and fails if a byte differs
#   --help     this text
#
# What is in the working tree is packaged, without what git ignores. All is in build/packages afterwards, with
# SHA256SUMS, forelock.spdx.json (what it consists of), and what the builds said in build.log and older.log. Fails if
# lintian finds an error or a warning, or blhc a compilation without hardening. Uses ccache, so only what has changed
# since the last call is compiled anew. Installs with apt-get what is missing.

# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

twice=no
for argument in "$@"; do
  case $argument in
    --twice) twice=yes ;;
    --help | -h) show_help; exit 0 ;;
    *) unknown_option "$argument" ;;
  esac
done

scripts/setup.sh --package
needs git
scripts/zookeeper_client.sh
scripts/older_system.sh
scripts/older_system.sh --arm64
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
for client in "${FORELOCK_ZOOKEEPER_CLIENT:-$root/build/zookeeper-client}" \
  "${FORELOCK_OLDER:-$root/build/older}/zookeeper-client" \
  "${FORELOCK_OLDER_ARM64:-$root/build/older-arm64}/zookeeper-client"; do
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

# make_packages FOLDER CMAKE-OPTION...: from a fresh copy of the source, which is always in the same place.
make_packages() {
  local into=$1
  shift
  rm -rf -- "$source_dir" "$into"
  mkdir -p "$source_dir" "$into"
  git ls-files -z --cached --others --exclude-standard --deduplicate |
    while IFS= read -r -d '' file; do [[ ! -e $file && ! -L $file ]] || printf '%s\0' "$file"; done |
    tar --create --null --no-recursion --files-from=- | tar --extract --directory "$source_dir"
  (cd "$source_dir" && FORELOCK_CMAKE_OPTIONS="$*" dpkg-buildpackage --build=binary --no-sign --no-pre-clean) \
    >"$into/build.log" 2>&1 || { tail -n 40 "$into/build.log" >&2; die "the build failed ($into/build.log)"; }
  mv -- "$packages"/*.deb "$into/"
  rm -f -- "$packages"/*.{buildinfo,changes}
  echo 'dpkg-buildpackage: info: source package forelock' >"$into/older.log"
  scripts/artefacts.sh "$source_dir" "$into" "$@" >>"$into/older.log" 2>&1 ||
    { tail -n 40 "$into/older.log" >&2; die "the build for older systems failed ($into/older.log)"; }
}

new=$packages/new
make_packages "$new" -DCMAKE_CXX_COMPILER_LAUNCHER=ccache
lintian --fail-on error,warning --tag-display-limit 0 --suppress-tags "$(printf '%s,' \
  bogus-mail-host initial-upload-closes-no-bugs)" "$new"/*.deb || die "lintian finds the above"
hardened "$new/build.log"
hardened "$new/older.log"  # by itself: its compiler makes such programs by a flag, which is then asked for everywhere
if [[ $twice == yes ]]; then
  make_packages "$packages/again"
  diff -r --exclude "*.log" "$new" "$packages/again" || die "the above is not the same when it is made again"
  rm -rf -- "$packages/again"
fi

/usr/bin/python3 scripts/sbom.py "$FORELOCK_ZOOKEEPER_CLIENT" "$new"/*.{deb,tar.gz,zip} "$new"/python/forelock/*.whl \
  "$new"/maven/org/forelock/forelock/*/forelock-[0-9]*[0-9].jar >"$new/forelock.spdx.json"

rm -rf -- "$source_dir" "$packages"/*.{deb,tar.gz,zip} "$packages"/{maven,python}
mv -- "$new"/* "$packages/"
rmdir "$new"
cd "$packages"
sums=$(find . -type f ! -name '*.log' ! -name lock ! -name SHA256SUMS -printf '%P\0' | sort --zero-terminated |
  xargs --null sha256sum --)
printf '%s\n' "$sums" >SHA256SUMS
ls -l -- *.deb *.tar.gz *.zip python/forelock/*.whl maven/org/forelock/forelock/*/*.jar
