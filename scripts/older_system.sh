#!/usr/bin/env bash
# Makes what compiles for older systems: scripts/older_system.sh [--arm64] [--help]
#
# What is given away runs on systems with glibc 2.31 and the C++ runtime of GCC 10: Debian 11, Ubuntu 20.04, Red Hat
# Enterprise Linux 9, Amazon Linux 2023, and newer ones. So it is compiled with Debian 11's compiler against Debian 11's
# libraries, which are unpacked here and not installed: build/older (or $FORELOCK_OLDER) is their root. Other libraries
# are linked in, because such a system has older ones or none. They are of the versions of Debian 12: those in C are its
# static libraries, whose every function the older C library has (or the linker says so); those in C++, and curl with
# HTTP alone, are compiled from its source packages, which apt verifies. ZooKeeper's client is made as everywhere
# (scripts/zookeeper_client.sh). For CMake there is build/older/toolchain.cmake.
#
# With --arm64 it makes the same for aarch64, in build/older-arm64 (or $FORELOCK_OLDER_ARM64): by Debian 11's cross
# compiler, with what Debian 12 has for arm64 now, in the versions that are in build/older-arm64/versions.
#
# Ends at once when all is there already. Needs Debian's mirrors; installs nothing.

# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

architecture=native
for argument in "$@"; do
  case $argument in
    --arm64) architecture=arm64 ;;
    --help | -h) show_help; exit 0 ;;
    *) unknown_option "$argument" ;;
  esac
done

needs cmake ninja dpkg-source dpkg-query apt-get mmdebstrap javac
if [[ $architecture == arm64 ]]; then
  target=$(absolute "${FORELOCK_OLDER_ARM64:-$root/build/older-arm64}")
  machine=aarch64-linux-gnu compiler=(g++-10-aarch64-linux-gnu)
  needs "$machine-ld"
else
  target=$(absolute "${FORELOCK_OLDER:-$root/build/older}")
  machine=$("${CC:-cc}" -print-multiarch) compiler=(g++-10 libc6-dev)
fi
# In C, as they are; in C++, or with parts that nothing here needs: the source package, and who says its version.
archives=(libssl-dev librdkafka-dev libsqlite3-dev libzstd-dev liblz4-dev zlib1g-dev)
headers=(nlohmann-json3-dev libcli11-dev libsasl2-dev)
sources=(fmtlib=libfmt-dev spdlog=libspdlog-dev prometheus-cpp=prometheus-cpp-dev curl=libcurl4-openssl-dev
  yaml-cpp=libyaml-cpp-dev)
stamp=$( (cat scripts/older_system.sh scripts/older_sasl.c scripts/zookeeper_client.sh third_party/zookeeper/*
  dpkg-query -W -f '${Package} ${Version}\n' "${archives[@]}" "${headers[@]}" "${sources[@]#*=}") | sha256sum)
is_there() {
  [[ -f $target/stamp && $(cat "$target/stamp") == "$stamp" ]]
}
! is_there || exit 0
mkdir -p "$(dirname -- "$target")"
exec 9>"$target.lock"
flock 9
# Somebody else may have made it meanwhile.
! is_there || exit 0
say "Making $target: Debian 11's compiler, and what is linked in"
rm -rf -- "$target"
work=$target/work
mkdir -p "$work"
log=$target/build.log
: >"$log"

# --- Debian 11 -------------------------------------------------------------------------------------------------------

mmdebstrap --quiet --variant=extract --include="$(IFS=,; printf %s "${compiler[*]}")" bullseye "$work/bullseye" \
  >>"$log" 2>&1 ||
  die "Debian 11 cannot be fetched ($log)"
for folder in bin lib lib64 usr; do
  [[ ! -e $work/bullseye/$folder && ! -L $work/bullseye/$folder ]] || mv -- "$work/bullseye/$folder" "$target/$folder"
done
rm -rf -- "${target:?}/usr/share"
# Its links are meant for its own root.
while IFS= read -r -d '' link; do
  ln -snf "$target$(readlink "$link")" "$link"
done < <(find "$target" -type l -lname '/*' -print0)
for kind in gcc g++; do
  printf '#!/bin/sh\nexec "%s" --sysroot="%s" "$@"\n' "$target/usr/bin/$machine-$kind-10" "$target" >"$target/$kind"
  chmod +x "$target/$kind"
done
java=$(readlink -f "$(command -v javac)")
ar="ar"
: >"$target/toolchain.cmake"
if [[ $architecture == arm64 ]]; then
  # Debian 11's own need libraries that are not here; a compiler takes any.
  ar=$machine-ar
  for tool in ar as ld nm objcopy objdump ranlib readelf strip; do
    ln -snf "$(command -v "$machine-$tool")" "$target/usr/$machine/bin/$tool"
  done
  cat >"$target/toolchain.cmake" <<END
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_AR "$(command -v "$machine-ar")")
set(CMAKE_RANLIB "$(command -v "$machine-ranlib")")
set(CMAKE_STRIP "$(command -v "$machine-strip")")
# For what a configuration tries out.
set(CMAKE_CROSSCOMPILING_EMULATOR "$(command -v qemu-aarch64-static);-L;$target/usr/$machine")
END
fi
cat >>"$target/toolchain.cmake" <<END
set(CMAKE_C_COMPILER "$target/gcc")
set(CMAKE_CXX_COMPILER "$target/g++")
# What is not in there does not exist, but the programs that build.
set(CMAKE_FIND_ROOT_PATH "$target")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(FORELOCK_JNI_INCLUDE "${java%/bin/javac}/include" CACHE PATH "jni.h")
set(BUILD_SHARED_LIBS ON CACHE BOOL "")
# The C library is in several files still.
set(CMAKE_CXX_STANDARD_LIBRARIES_INIT "-Wl,--as-needed -ldl -lpthread -lrt -lresolv -lm")
set(CMAKE_C_STANDARD_LIBRARIES_INIT "\${CMAKE_CXX_STANDARD_LIBRARIES_INIT}")
END

# --- Debian 12 -------------------------------------------------------------------------------------------------------

own=$target/usr/local
mkdir -p "$own/include" "$own/lib" "$work/source"
# list_files: of these packages; below $from.
from=''
list_files() { dpkg -L "${archives[@]}" "${headers[@]}"; }
if [[ $architecture == arm64 ]]; then
  (
    own_apt "$work/binaries" 'deb [arch=arm64]' 'APT::Architecture "arm64";' 'APT::Architectures { "arm64"; };' \
      'Dir::State::status "/dev/null";' || exit
    mkdir "$work/debs"
    cd "$work/debs"
    apt-get -q download "${archives[@]}" "${headers[@]}" libzookeeper-mt-dev
  ) >>"$log" 2>&1 || die "Debian's libraries for arm64 cannot be fetched ($log)"
  from=$work/debian
  # This machine may have older ones: what is linked in says which (scripts/notices.py, scripts/sbom.py).
  # shellcheck disable=SC2016  # fields of dpkg
  for file in "$work"/debs/*.deb; do
    dpkg-deb -x "$file" "$from"
    dpkg-deb --show --showformat '${Package} ${Version}\n' "$file" >>"$target/versions"
  done
  list_files() { find "$from" ! -type d -printf '/%P\n'; }
  # scripts/zookeeper_client.sh looks for it where Debian has it.
  mkdir -p "$target/usr/lib/$machine"
  mv -- "$from/usr/lib/$machine/libzookeeper_mt.a" "$target/usr/lib/$machine/"
  rm -rf -- "$from/usr/include/zookeeper"
fi
while IFS= read -r file; do
  [[ -f $from$file ]] || continue
  mkdir -p "$own/$(dirname -- "${file#/usr/}")"
  cp -- "$from$file" "$own/${file#/usr/}"
done < <(list_files | grep -E '^/usr/(include/|share/cmake/|lib/.*(\.cmake|\.a)$)')
mv -- "$own/lib/$machine"/*.a "$own/lib/"
[[ ! -d $own/include/$machine ]] || cp -r -- "$own/include/$machine/." "$own/include/"
ln -s /usr/include/boost "$own/include/boost"

source_packages "$work/apt" >>"$log" 2>&1 || die "the lists of Debian's source packages cannot be fetched ($log)"
for pair in "${sources[@]}"; do
  # shellcheck disable=SC2016  # a field of dpkg
  version=$(dpkg-query -W -f '${source:Version}' "${pair#*=}")
  (cd "$work/source" && apt-get -q source --download-only "${pair%%=*}=$version") >>"$log" 2>&1 ||
    die "the source package ${pair%%=*} $version cannot be fetched ($log)"
  dpkg-source --no-check -x "$work/source/${pair%%=*}"_*.dsc "$work/${pair%%=*}" >>"$log" 2>&1 ||
    die "${pair%%=*} cannot be unpacked ($log)"
done
unset APT_CONFIG

# make NAME OPTION...: hardened as Debian's packages are.
flags='-O2 -fPIC -fvisibility=hidden -fstack-protector-strong -Wformat -Werror=format-security -Wdate-time'
flags+=" -D_FORTIFY_SOURCE=2 -ffunction-sections -fdata-sections -ffile-prefix-map=$work=."
make() {
  local name=$1
  shift
  { cmake -S "$work/$name" -B "$work/build/$name" -G Ninja "-DCMAKE_TOOLCHAIN_FILE=$target/toolchain.cmake" \
      -DCMAKE_BUILD_TYPE=None "-DCMAKE_C_FLAGS=$flags" "-DCMAKE_CXX_FLAGS=$flags" -DBUILD_SHARED_LIBS=OFF \
      "-DCMAKE_INSTALL_PREFIX=$own" -DCMAKE_INSTALL_LIBDIR=lib "$@" &&
    cmake --build "$work/build/$name" --parallel "$(parallel_jobs)" -- -v && cmake --install "$work/build/$name"
  } >>"$log" 2>&1 || { tail -n 20 "$log" >&2; die "$name cannot be built ($log)"; }
}
make fmtlib -DFMT_TEST=OFF -DFMT_DOC=OFF
make spdlog -DSPDLOG_FMT_EXTERNAL=ON -DSPDLOG_BUILD_EXAMPLE=OFF -DSPDLOG_BUILD_TESTS=OFF
make prometheus-cpp -DENABLE_PULL=OFF -DENABLE_PUSH=OFF -DENABLE_COMPRESSION=OFF -DENABLE_TESTING=OFF \
  -DGENERATE_PKGCONFIG=OFF
make yaml-cpp -DYAML_CPP_BUILD_TESTS=OFF -DYAML_CPP_BUILD_TOOLS=OFF -DYAML_BUILD_SHARED_LIBS=OFF
make curl -DHTTP_ONLY=ON -DBUILD_CURL_EXE=OFF -DBUILD_TESTING=OFF -DCURL_USE_OPENSSL=ON -DCURL_CA_PATH=none \
  -DCURL_CA_BUNDLE=none -DCURL_CA_FALLBACK=ON -DCURL_USE_LIBSSH2=OFF -DCURL_USE_LIBPSL=OFF -DUSE_LIBIDN2=OFF \
  -DUSE_NGHTTP2=OFF -DCURL_ZLIB=OFF -DCURL_BROTLI=OFF -DCURL_ZSTD=OFF -DCURL_USE_GSSAPI=OFF -DCURL_DISABLE_LDAP=ON \
  -DENABLE_MANUAL=OFF

# Kafka's client with all that it needs: a static library does not tell.
# shellcheck disable=SC2086  # several words
"$target/gcc" $flags -I"$own/include" -c scripts/older_sasl.c -o "$work/sasl.o" >>"$log" 2>&1 ||
  { tail "$log" >&2; die "scripts/older_sasl.c cannot be compiled"; }
"$ar" rcsD "$work/libsasl.a" "$work/sasl.o"
{ printf 'CREATE %s\n' "$own/lib/librdkafka.new.a"
  printf 'ADDLIB %s\n' "$own"/lib/lib{rdkafka,curl,ssl,crypto,zstd,lz4,z}.a "$work/libsasl.a"
  printf 'SAVE\nEND\n'
} | "$ar" -M
mv -- "$own/lib/librdkafka.new.a" "$own/lib/librdkafka.a"

[[ $architecture == native ]] || export FORELOCK_SYSROOT=$target
CC=$target/gcc AR=$ar FORELOCK_ZOOKEEPER_CLIENT=$target/zookeeper-client scripts/zookeeper_client.sh

rm -rf -- "$work"
printf '%s\n' "$stamp" >"$target/stamp"
