#!/usr/bin/env bash
# What scripts/package.sh makes beside Debian packages: scripts/artefacts.sh TREE INTO [CMAKE-OPTION…]
#
#   INTO/maven                  a repository for Maven: the jar with its libraries, its sources, javadoc and test kit
#   INTO/python                 an index for pip with the wheels
#   INTO/forelock-….tar.gz      the command, with all but glibc inside
#   INTO/forelock-…-for-….zip   the plugins, each for one version of a search engine
#
# For x86-64 and aarch64: jar and plugins have the libraries of both. For older systems too: all is compiled by
# scripts/older_system.sh's compilers, in TREE, a copy of the source whose path is always the same. Needs
# SOURCE_DATE_EPOCH; for the same commit it makes the same bytes. The plugins for OpenSearch 3 and Elasticsearch 9 need
# Java 21, which Debian 12 has not: without one in /usr/lib/jvm they are left out, which is said.

# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

[[ $# -ge 2 && -n ${SOURCE_DATE_EPOCH:-} ]] || { show_help >&2; exit 64; }
needs cmake ninja mvn dpkg-buildflags
# ccache knows Debian 11's compiler again when scripts/older_system.sh has unpacked it anew.
export CCACHE_COMPILERCHECK='%compiler% -v'
tree=$(absolute "$1") into=$(absolute "$2")
shift 2
older=${FORELOCK_OLDER:-$root/build/older} older_arm64=${FORELOCK_OLDER_ARM64:-$root/build/older-arm64}
built=$tree/older-build arm64=$tree/arm64-build
version=$(sed -n 's/^project(forelock VERSION \([0-9.]*\).*/\1/p' "$tree/CMakeLists.txt")
time=$(date --utc --date "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
work=$tree/artefacts
rm -rf -- "$work"
mkdir -p "$work" "$into"
cd "$tree"

# flag NAME, for the architecture $host: as debian/rules has them; the command has the C++ runtime inside.
host=$(dpkg --print-architecture)
flag() {
  DEB_BUILD_MAINT_OPTIONS=hardening=+all DEB_CXXFLAGS_MAINT_STRIP=-g \
    dpkg-architecture --host-arch "$host" --force --command "dpkg-buildflags --get $1" 2>/dev/null
}
# compile OLDER BUILD OPTION…: what OLDER is for, into BUILD
compile() {
  local linking
  linking=$(flag LDFLAGS)
  FORELOCK_ZOOKEEPER_CLIENT=$1/zookeeper-client cmake -S . -B "$2" -G Ninja \
    "-DCMAKE_TOOLCHAIN_FILE=$1/toolchain.cmake" -DCMAKE_BUILD_TYPE=None \
    "-DCMAKE_CXX_FLAGS=$(flag CXXFLAGS) $(flag CPPFLAGS) -g1 -DNDEBUG -ffunction-sections -fdata-sections" \
    "-DCMAKE_SHARED_LINKER_FLAGS=$linking" "-DCMAKE_MODULE_LINKER_FLAGS=$linking" \
    "-DCMAKE_EXE_LINKER_FLAGS=$linking -fPIE -pie -static-libstdc++ -static-libgcc -Wl,--gc-sections" \
    -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=12 \
    -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DCMAKE_SKIP_RPATH=ON -DCMAKE_INSTALL_PREFIX=/usr \
    -DFORELOCK_BUILD_TESTS=OFF -DFORELOCK_BUILD_EXAMPLES=OFF -DFORELOCK_BUILD_JAVA=ON "${@:3}"
  cmake --build "$2" --parallel "$(parallel_jobs)" -- -v
}
say "Compiling for older systems"
compile "$older" "$built" "$@"
say "Compiling for older systems, aarch64"
host=arm64 compile "$older_arm64" "$arm64" "$@"
DESTDIR=$work/installed cmake --install "$built" --strip >/dev/null

# Of whom what is linked in is.
mkdir "$work/notices"
cp -- LICENSE "$work/notices/"
FORELOCK_OLDER_ARM64=$older_arm64 /usr/bin/python3 scripts/notices.py >"$work/notices/NOTICES.txt"

say "Java: $into/maven"
maven() {
  mvn -B -q -Dstyle.color=never "-Dproject.build.outputTimestamp=$time" "-Dforelock.notices=$work/notices" \
    -DskipTests "$@"
}
both=("-Dforelock.native=$built/java/native" "-Dforelock.native.aarch64=$arm64/java/native")
maven -f bindings/java/pom.xml package "${both[@]}" "-Dforelock.target=$work/java"
place=$into/maven/org/forelock/forelock
mkdir -p "$place/$version"
cp -- bindings/java/pom.xml "$place/$version/forelock-$version.pom"
for kind in '' -sources -javadoc -testkit; do
  cp -- "$work/java/forelock-$version$kind.jar" "$place/$version/"
done
cat >"$place/maven-metadata.xml" <<XML
<?xml version="1.0" encoding="UTF-8"?>
<metadata>
  <groupId>org.forelock</groupId>
  <artifactId>forelock</artifactId>
  <versioning>
    <release>$version</release>
    <versions>
      <version>$version</version>
    </versions>
    <lastUpdated>$(date --utc --date "@$SOURCE_DATE_EPOCH" +%Y%m%d%H%M%S)</lastUpdated>
  </versioning>
</metadata>
XML
for file in "$place"/*.xml "$place/$version"/*; do
  for kind in sha1 sha256; do
    sum=$("${kind}sum" "$file")
    printf '%s' "${sum%% *}" >"$file.$kind"
  done
done

say "The plugins of search engines: $into/forelock-$version-for-….zip"
maven -f bindings/java/pom.xml package "-Dforelock.target=$work/bare" -Dforelock.native=/nonexistent -Denforcer.skip \
  -Dmaven.javadoc.skip=true -Dmaven.source.skip=true
maven -f search/pom.xml package "-Dforelock.jar=$work/bare/forelock-$version.jar" "-Dforelock.target=$work/search"
# plugin ENGINE VERSION MAVEN-OPTION...
plugin() {
  maven -f "$1/pom.xml" package "-D$1.version=$2" "-Dforelock.jar=$work/bare/forelock-$version.jar" \
    "-Dforelock.search=$work/search" "${both[@]}" "-Dforelock.target=$work/$1-$2" "${@:3}"
  cp -- "$work/$1-$2/forelock-$1-$version.zip" "$into/forelock-$version-for-$1-$2.zip"
}
version_of() { sed -n "s|^ *<$1.version>\(.*\)</$1.version>|\1|p" "$1/pom.xml" | sed -n "$2p"; }
plugin opensearch "$(version_of opensearch 1)"
plugin elasticsearch "$(version_of elasticsearch 1)"
plugin elasticsearch "$(version_of elasticsearch 3)" -Pelasticsearch-7
newer=$(newer_java)
if [[ -n $newer ]]; then
  JAVA_HOME=$newer plugin opensearch "$(version_of opensearch 2)" -Popensearch-3
  JAVA_HOME=$newer plugin elasticsearch "$(version_of elasticsearch 2)" -Pelasticsearch-9
else
  say "No plugins for OpenSearch 3 and Elasticsearch 9: there is no Java 21 or later in /usr/lib/jvm."
fi

say "Python: $into/python"
mkdir -p "$into/python/forelock"
for build in "$built" "$arm64"; do
  /usr/bin/python3 -B bindings/python/build.py --wheel --notices "$work/notices" "$build/lib" "$work/python"
  cp -- "$work"/python/wheel/*.whl "$into/python/forelock/"
done
# index TITLE LINK…: a link is an address and a text.
index() {
  printf '<!DOCTYPE html>\n<html><head><meta name="pypi:repository-version" content="1.0"><title>%s</title></head>' "$1"
  printf '<body>'
  printf '<a href="%s">%s</a><br>' "${@:2}"
  printf '</body></html>\n'
}
index forelock "forelock/" forelock >"$into/python/index.html"
links=()
for wheel in "$into"/python/forelock/*.whl; do
  sum=$(sha256sum "$wheel")
  links+=("${wheel##*/}#sha256=${sum%% *}" "${wheel##*/}")
done
index forelock "${links[@]}" >"$into/python/forelock/index.html"

# The command: tarball ARCHITECTURE BUILD; its texts are the same for all.
tarball() {
  local name=forelock-$version-linux-$1
  say "The command: $into/$name.tar.gz"
  mkdir -p "$work/$name/bin" "$work/$name/share"
  "$1-linux-gnu-strip" -o "$work/$name/bin/forelock" "$2/bin/forelock"
  for folder in man bash-completion zsh fish forelock; do
    cp -r -- "$work/installed/usr/share/$folder" "$work/$name/share/"
  done
  cp -- "$work"/notices/* config/forelock.properties "$work/$name/"
  chmod -R u=rwX,go=rX "$work/$name"
  tar --create --directory "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime "@$SOURCE_DATE_EPOCH" \
    "$name" | gzip --no-name -9 >"$into/$name.tar.gz"
}
tarball "$(uname -m)" "$built"
tarball aarch64 "$arm64"
