#!/usr/bin/env bash
# Makes ZooKeeper's C client that can speak TLS and SASL: Debian's, with the patches of
# third_party/zookeeper.
#   scripts/zookeeper_client.sh [--help]
#
# The source package comes from the mirrors that this machine's apt uses, into a folder of its own: nothing on the
# machine is changed. What is fetched must have the checksums below. The result is a static library and its headers in
# build/zookeeper-client, or in $FORELOCK_ZOOKEEPER_CLIENT; cmake/FindZooKeeper.cmake takes it from there, and Debian's
# client, which has no TLS, where it is missing. Ends at once when it is there already. $CC and $AR, when set, compile;
# for another machine than this one, with what $FORELOCK_SYSROOT has of it (scripts/older_system.sh --arm64).

# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

[[ $# -eq 0 ]] || unknown_option "$1"

version=3.8.0-11+deb12u2
sums='b0c5684640bea2d8bd6610b47ff41be2aefd6c910ba48fcad5949bd2bf2fa1ac  zookeeper_3.8.0.orig.tar.gz
c2fca81a9bf80b6bf93cdb78366a60e1d9e561fd664c85db7cddc21d200c9540  zookeeper_3.8.0-11+deb12u2.debian.tar.xz
a41c5eef50f98609f2dc69a24625b06564131b68c723ed14e5f26dd8693995a5  zookeeper_3.8.0-11+deb12u2.dsc'

patches=("$root"/third_party/zookeeper/{transport,watches,sasl,threads,answers}.patch)
target=$(absolute "${FORELOCK_ZOOKEEPER_CLIENT:-$root/build/zookeeper-client}")
stamp=$(cat "${patches[@]}" "$root/scripts/zookeeper_client.sh" <(printf '%s\n' "${CC:-cc}") | sha256sum)
stamp=${stamp%% *}
is_there() {
  [[ -f $target/libforelock_zookeeper_mt.a && $(cat "$target/stamp" 2>/dev/null) == "$stamp" ]]
}
! is_there || exit 0

needs "${CC:-cc}" "${AR:-ar}" dpkg-source dpkg-query apt-get patch
installed=$(dpkg-query -W -f='${Version}' libzookeeper-mt-dev 2>/dev/null || true)
[[ $installed == "$version" ]] ||
  die "the patches are for libzookeeper-mt-dev $version, and here is ${installed:-none}"
mkdir -p "$target/source"
exec 9>"$target/lock"
flock 9
! is_there || exit 0  # somebody else has made it meanwhile
work=$(mktemp -d "$target/work.XXXXXX")
trap 'rm -rf -- "$work"' EXIT

download() {
  source_packages "$work/apt" && (cd "$target/source" && apt-get -q source --download-only "zookeeper=$version")
}

cd "$target/source"
if ! sha256sum --check --status <<<"$sums" 2>/dev/null; then
  download >"$target/download.log" 2>&1 ||
    die "Debian's source package zookeeper $version cannot be fetched ($target/download.log)"
  sha256sum --check --quiet <<<"$sums" || die "what was fetched to $target/source is not what is expected"
fi
dpkg-source --no-check -x "zookeeper_$version.dsc" "$work/zookeeper" >"$target/build.log" 2>&1 ||
  die "the source package cannot be unpacked ($target/build.log)"
for patch in "${patches[@]}"; do
  patch -d "$work/zookeeper" -p1 --fuzz=0 <"$patch" >>"$target/build.log" 2>&1 ||
    die "$patch does not fit ($target/build.log)"
done

# All is made anew but the code that a Java program generates: that is taken from Debian's archive.
client=$work/zookeeper/zookeeper-client/zookeeper-client-c
include=$work/include/zookeeper
mkdir -p "$include" "$work/objects"
# Linux has everything that it asks for.
sed 's/^#cmakedefine/#define/' "$client/cmake_config.h.in" >"$client/include/config.h"
cp /usr/include/zookeeper/*.h "$include/"
cp "$client/include/zookeeper.h" "$include/"
machine=$("${CC:-cc}" -print-multiarch 2>/dev/null || "${CC:-cc}" -dumpmachine)
archive=${FORELOCK_SYSROOT:-}/usr/lib/$machine/libzookeeper_mt.a
[[ -f $archive ]] || die "$archive is missing: install libzookeeper-mt-dev for $machine"
(cd "$work/objects" && "${AR:-ar}" x "$archive" libzkmt_la-zookeeper.jute.o)
# Without -DHAVE_OPENSSL_H and -DHAVE_CYRUS_SASL_H: TLS is on the other side of the transport, SASL on that of the
# exchange.
# Hardened as Debian's packages are; scripts/package.sh has blhc read that in the log.
flags=(-O2 -g1 -fPIC -pthread -fstack-protector-strong -Wformat -Werror=format-security -Wdate-time
  -D_FORTIFY_SOURCE=2 -D_GNU_SOURCE -DTHREADED
  "-ffile-prefix-map=$target=." "-ffile-prefix-map=$work=." "-ffile-prefix-map=$client=zookeeper-client-c"
  "-I$include" "-I$client/include" "-I$client/src" ${FORELOCK_SYSROOT:+"--sysroot=$FORELOCK_SYSROOT"})
for name in zookeeper mt_adaptor zk_hashtable zk_log addrvec recordio hashtable/hashtable hashtable/hashtable_itr; do
  compile=("${CC:-cc}" "${flags[@]}" -c "$client/src/$name.c" -o "$work/objects/${name##*/}.o")
  printf '%s\n' "${compile[*]}" >>"$target/build.log"
  "${compile[@]}" >>"$target/build.log" 2>&1 || die "$name.c cannot be compiled ($target/build.log)"
done
"${AR:-ar}" rcsD "$work/libforelock_zookeeper_mt.a" "$work"/objects/*.o

rm -rf "$target/include"
mv "$work/include" "$target/include"
mv "$work/libforelock_zookeeper_mt.a" "$target/"
printf '%s\n' "$stamp" >"$target/stamp"
