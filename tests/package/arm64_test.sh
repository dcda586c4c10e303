#!/usr/bin/env bash
# Uses what scripts/package.sh has made for aarch64 in a Debian 12 for arm64 that an emulated processor runs: the
# command of the tarball, the wheel, the jar, the plugins: arm64_test.sh SOURCE BUILD
#
# BUILD is a build for this machine with the target forelock_server_host, which starts the ZooKeeper, on this machine's
# loopback address.
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=root.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/root.sh"
own_space bookworm-arm64 --variant=extract --architectures=arm64 \
  --include=openjdk-17-jre-headless,python3,python3-cffi,libsasl2-modules bookworm
build=$(cd -- "$2" && pwd)

# server NAME [ARGUMENT]: a ZooKeeper of this machine; $said is what its first line says. It ends with its input.
server() {
  mkfifo "$work/$1.in" "$work/$1.out"
  "$build/tests/support/forelock_server_host" "${@:2}" <"$work/$1.in" >"$work/$1.out" &
  exec {input}>"$work/$1.in"
  inputs+=("$input")
  read -r said <"$work/$1.out"
}
inputs=()

step "a fresh system for arm64"
fill_root
own_command
mkdir -p "$root"/{tmp,etc,languages,wheel,plugins,command}
# The emulator is the first program, so that the kernel has to know nothing.
cp -- "$(readlink -f -- "$(command -v qemu-aarch64-static)")" "$root/emulator"
in_root=(chroot "$root" /emulator)
echo '127.0.0.1 localhost' >"$root/etc/hosts"
java=/usr/lib/jvm/java-17-openjdk-arm64/bin/java
tar --extract --file "$(echo "$packages"/forelock-*-linux-aarch64.tar.gz)" --directory "$root/command" \
  --strip-components 1
cp -- "$packages/maven/org/forelock/forelock/$version/forelock-$version.jar" "$root/languages/forelock.jar"
unpack_plugins "$root/plugins"

step "which system the wheel is for"
# install PLATFORM FOLDER
install() {
  /usr/bin/python3 -m pip --disable-pip-version-check --quiet install --root-user-action=ignore --no-deps \
    --index-url "file://$packages/python" --only-binary :all: --platform "$1" --target "$2" forelock
}
install manylinux_2_31_aarch64 "$root/wheel"
if install manylinux_2_28_aarch64 "$work/none" 2>/dev/null; then fail "the wheel is installed on older systems, too"; fi

step "what is needed of the system, of which age and architecture; symbols; hardening"
mkdir "$work/jar"
/usr/bin/python3 -m zipfile -e "$root/languages/forelock.jar" "$work/jar"
natives=("$work"/jar/org/forelock/native/linux-aarch64/*.so "$root"/plugins/*/linux-aarch64/*.so)
[[ ${#natives[@]} -eq $((2 + plugins)) ]] ||
  fail "two libraries in the jar, and one in each plugin, are expected: ${natives[*]}"
given=("${natives[@]}" "$root"/wheel/forelock/native/*.so* "$root/command/bin/forelock")
for file in "${given[@]}"; do
  [[ $(readelf --file-header "$file") == *AArch64* ]] || fail "$file is of another architecture"
done
"$source_dir/tests/java/symbols_test.sh" "${natives[@]}"
"$source_dir/tests/package/versions_test.sh" "${given[@]}"
"$source_dir/tests/package/hardened_test.sh" "${given[@]}"

step "servers, and settings with patience for an emulated processor"
mkdir "$root/settings"
# settings NAME LINE…
settings() {
  printf '%s\n' zookeeper.session.timeout=30000 zookeeper.connection.retry=100 \
    zookeeper.foregound.task.timeout=120000 "${@:2}" \
    >"$root/settings/$1.properties"
}
server plain
plain=$said
settings plain "zookeeper.servers=$plain"
server secure tls
read -r address authority certificate key <<<"$said"
cp -- "$authority" "$certificate" "$key" "$root/settings/"
settings secure "zookeeper.servers=$address" "zookeeper.tls.ca.file=/settings/${authority##*/}" \
  "zookeeper.tls.certificate.file=/settings/${certificate##*/}" "zookeeper.tls.key.file=/settings/${key##*/}"

step "a program in C"
"$source_dir/build/older-arm64/gcc" -std=c11 "-DPACKAGE_VERSION=\"$version\"" -I"$source_dir/include" \
  "$source_dir/tests/package/consumer/main.c" -o "$root/plain" "$root"/wheel/forelock/native/libforelock.so.*
"${in_root[@]}" -E LD_LIBRARY_PATH=/wheel/forelock/native -E "FORELOCK_ZOOKEEPER=$plain" /plain

step "the command, Python by the wheel, Java by the jar: without TLS and with it"
cp "$source_dir/tests/package/languages/held.py" "$root/languages/"
compile_held "$root/languages/forelock.jar" "$root/languages"
for way in plain secure; do
  "${in_root[@]}" /command/bin/forelock -q --config "/settings/$way.properties" run -m P1 -- /emulator /bin/echo inside
  "${in_root[@]}" -E PYTHONPATH=/wheel -E PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 /languages/held.py /tmp \
    "/settings/$way.properties" | held
  "${in_root[@]}" "$java" -cp /languages/forelock.jar:/languages Held /tmp "/settings/$way.properties" | held
done

step "the search engines' plugins, each from its own folder"
# Those that this Java can read.
for plugin in "$root"/plugins/*-for-{opensearch-2,elasticsearch-[78]}.*; do
  "${in_root[@]}" "$java" -cp "/plugins/${plugin##*/}/forelock-$version.jar:/languages" Held /tmp \
    /settings/plain.properties >"$work/plugin" 2>&1 || true
  grep -E '^held P1 with token [1-9][0-9]*$' "$work/plugin" || fail "no lock: $(cat "$work/plugin")"
done

for input in "${inputs[@]}"; do exec {input}>&-; done
wait
step "done"
