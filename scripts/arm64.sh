#!/usr/bin/env bash
# Builds for aarch64, on another machine, what the jar, the search engines' plugins and a wheel contain:
#   scripts/arm64.sh [--sysroot] [--help]
#
#   --sysroot  makes only the folder with Debian's libraries for arm64, anew
#   --help     this text
#
# By Debian's cross compiler, against what Debian 12 has for arm64, which mmdebstrap puts into a folder: nothing of that
# is installed here. It is fetched anew when apt offers another OpenSSL, which is linked in. With the flags that Debian
# uses for hardening. Uses ccache, and apt-get for what is missing. Afterwards there are in build/arm64
#
#   java/native   the JNI libraries: -Dforelock.native.aarch64=FOLDER for Maven, $FORELOCK_NATIVE_AARCH64 for
#                 scripts/opensearch.sh and scripts/elasticsearch.sh
#   wheel         the wheel

# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

sysroot_only=no
for argument in "$@"; do
  case $argument in
    --sysroot) sysroot_only=yes ;;
    --help | -h) show_help; exit 0 ;;
    *) unknown_option "$argument" ;;
  esac
done

scripts/setup.sh --cross
target=$root/build/arm64
sysroot=$target/sysroot
mkdir -p "$target"
exec 9>"$target/lock"
flock 9

# What the libraries are built and linked with; the compiler brings the C++ runtime.
packages=(libc6-dev libzookeeper-mt-dev libssl-dev libsasl2-dev libyaml-cpp-dev nlohmann-json3-dev librdkafka-dev
  libsqlite3-dev)
stamp=$(printf '%s\n' "${packages[@]}")

make_sysroot() {
  rm -rf -- "$sysroot" "$sysroot.new"
  mmdebstrap --quiet --variant=extract --architectures=arm64 --include="$(IFS=,; printf '%s' "${packages[*]}")" \
    bookworm "$sysroot.new"
  # As they are meant below the folder.
  local link
  while IFS= read -r -d '' link; do
    ln -sfnr -- "$sysroot.new$(readlink -- "$link")" "$link"
  done < <(find "$sysroot.new" -lname '/*' -print0)
  printf '%s\n' "$stamp" >"$sysroot.new/stamp"
  mv -- "$sysroot.new" "$sysroot"
}

# version_of PACKAGE: in the sysroot.
version_of() {
  zcat "$sysroot/usr/share/doc/$1/changelog.Debian.gz" | sed -n '1s/.*(\(.*\)).*/\1/p'
}

# OpenSSL is linked in: not an older one than apt has to offer.
offered=$(apt-cache policy libssl-dev | awk '$1 == "Candidate:" { print $2 }')
if [[ $sysroot_only == yes || $(cat "$sysroot/stamp" 2>/dev/null) != "$stamp" ||
  $(version_of libssl-dev) != "$offered" ]]; then
  make_sysroot
fi
[[ $sysroot_only == no ]] || exit 0
here=$(dpkg-query -W -f '${Version}' libzookeeper-mt-dev)
[[ $(version_of libzookeeper-mt-dev) == "$here" ]] ||
  die "libzookeeper-mt-dev is $here here, and $(version_of libzookeeper-mt-dev) for arm64"
here=$(dpkg-query -W -f '${Version}' libssl-dev)
[[ $(version_of libssl-dev) == "$here" ]] || say "OpenSSL $(version_of libssl-dev) is linked in, and here is $here."

export FORELOCK_SYSROOT=$sysroot FORELOCK_ZOOKEEPER_CLIENT=$target/zookeeper-client
mkdir -p "$FORELOCK_ZOOKEEPER_CLIENT"
# The same source package is fetched once.
if [[ ! -d $FORELOCK_ZOOKEEPER_CLIENT/source && -d $root/build/zookeeper-client/source ]]; then
  cp -r -- "$root/build/zookeeper-client/source" "$FORELOCK_ZOOKEEPER_CLIENT/source"
fi
CC=aarch64-linux-gnu-gcc AR=aarch64-linux-gnu-ar scripts/zookeeper_client.sh

# The same for the same commit, wherever it is built.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH TZ=UTC LC_ALL=C.UTF-8
export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros}
# As debian/rules has them.
export DEB_BUILD_MAINT_OPTIONS=hardening=+all DEB_CXXFLAGS_MAINT_STRIP=-g DEB_CXXFLAGS_MAINT_APPEND=-g1
flag() { dpkg-architecture --host-arch arm64 --force --command "dpkg-buildflags --get $1" 2>/dev/null; }
flags="$(flag CXXFLAGS) $(flag CPPFLAGS) -DNDEBUG"
linking=$(flag LDFLAGS)
jdk=$(dirname -- "$(dirname -- "$(readlink -f -- "$(command -v javac)")")")
cmake -S . -B "$target" -G Ninja --toolchain cmake/aarch64.cmake -DCMAKE_BUILD_TYPE=None \
  -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DCMAKE_SKIP_RPATH=ON \
  -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=12 \
  "-DCMAKE_CXX_FLAGS=$flags" "-DCMAKE_SHARED_LINKER_FLAGS=$linking" "-DCMAKE_MODULE_LINKER_FLAGS=$linking" \
  -DFORELOCK_BUILD_CLI=OFF -DFORELOCK_BUILD_TESTS=OFF -DFORELOCK_BUILD_EXAMPLES=OFF -DFORELOCK_INSTALL=OFF \
  "-DFORELOCK_JNI_INCLUDE=$jdk/include"
targets=(forelock forelock_dlq forelock_jni forelock_jni_dlq)
cmake --build "$target" --parallel "$(parallel_jobs)" --target "${targets[@]}"
# Every compilation had them, as those of Debian's packages (scripts/package.sh).
{ echo 'dpkg-buildpackage: info: source package forelock'
  cat -- "$FORELOCK_ZOOKEEPER_CLIENT/build.log"
  ninja -C "$target" -t commands "${targets[@]}"
} >"$target/commands.log"
blhc --arch arm64 --bindnow --ignore-flag -g "$target/commands.log" || die "blhc finds the above: flags are missing"
/usr/bin/python3 -B bindings/python/build.py --wheel --sysroot "$sysroot" "$target/lib" "$target/python"
rm -rf -- "$target/wheel"
mv -- "$target/python/wheel" "$target/wheel"
