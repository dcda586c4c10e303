#!/usr/bin/env bash
# What scripts/arm64.sh has built, as it is given away, in a Debian 12 for arm64 that an emulated processor runs:
# arm64_test.sh SOURCE BUILD
#
# BUILD is a build for this machine. The system is a folder that mmdebstrap fills (kept in
# build/packages-root; it needs root and Debian's mirrors). The ZooKeeper is one of this machine, on its loopback
# address.
set -euo pipefail

source_dir=$(cd -- "$1" && pwd)
build=$(cd -- "$2" && pwd)
arm64=$source_dir/build/arm64
base=$source_dir/build/packages-root/bookworm-arm64.tar
[[ $(id -u) -eq 0 ]] || { echo "arm64_test.sh: only root can enter another root" >&2; exit 77; }

# Within the new process space: everything that is started there ends with this script.
if [[ ${3:-} != inside ]]; then
  if [[ ! -f $base ]]; then
    mkdir -p "$(dirname -- "$base")"
    mmdebstrap --quiet --variant=extract --architectures=arm64 \
      --include=openjdk-17-jre-headless,python3,python3-cffi,librdkafka1,libsqlite3-0 bookworm "$base.new.tar"
    mv -- "$base.new.tar" "$base"
  fi
  work=$(mktemp -d)
  trap 'rm -rf --one-file-system -- "$work"' EXIT
  unshare --mount --pid --fork --kill-child "$0" "$source_dir" "$build" inside "$work"
  exit
fi

work=$4
root=$work/root
step() { printf '== %s\n' "$*"; }
fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
# The emulator is the first program, so that the kernel has to know nothing.
in_root=(chroot "$root" /emulator)
# server NAME [ARGUMENT]: a ZooKeeper of this machine; $said is what its first line says. It ends with its input.
server() {
  mkfifo "$work/$1.in" "$work/$1.out"
  "$build/tests/support/forelock_server_host" "${@:2}" <"$work/$1.in" >"$work/$1.out" &
  exec {input}>"$work/$1.in"
  inputs+=("$input")
  read -r said <"$work/$1.out"
}
inputs=()
held() {
  tee "$work/said"
  grep -qE '^held P1 with token [1-9][0-9]*$' "$work/said" || fail "no lock"
}
held_with_queue() {
  held
  grep -qE '^a queue of [0-9.]+$' "$work/said" || fail "no queue"
}

step "a fresh system for arm64"
mkdir -p "$root"
tar --extract --file "$base" --directory "$root" --exclude './dev/*'
mkdir -p "$root"/{proc,dev,tmp,etc,languages,wheel}
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
cp -- "$(readlink -f -- "$(command -v qemu-aarch64-static)")" "$root/emulator"
echo '127.0.0.1 localhost' >"$root/etc/hosts"
java=/usr/lib/jvm/java-17-openjdk-arm64/bin/java

step "what the libraries show; which system the wheel is for"
natives=("$arm64"/java/native/*.so)
[[ ${#natives[@]} -eq 2 ]] || fail "two libraries for Java are expected: ${natives[*]}"
# install PLATFORM FOLDER
install() {
  python3 -m pip --disable-pip-version-check --quiet install --root-user-action=ignore --no-index --no-deps \
    --only-binary :all: --platform "$1" --target "$2" "$arm64"/wheel/*.whl
}
tag=$(basename -- "$arm64"/wheel/*.whl .whl)
tag=${tag##*-}
[[ $tag == manylinux_*_aarch64 ]] || fail "the wheel is for $tag"
install "$tag" "$root/wheel"
if install "${tag/%aarch64/x86_64}" "$work/none" 2>/dev/null; then fail "the wheel is installed on x86-64, too"; fi
given=("${natives[@]}" "$root"/wheel/forelock/native/*)
for library in "${given[@]}"; do
  [[ $(readelf --file-header "$library") == *AArch64* ]] || fail "$library is of another architecture"
done
"$source_dir/tests/java/symbols_test.sh" "${natives[@]}"
"$source_dir/tests/package/hardened_test.sh" "${natives[@]}" "$root"/wheel/forelock/native/*forelock*

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
version=$(python3 -c 'import email, sys; print(email.message_from_file(open(sys.argv[1]))["Version"])' \
  "$root"/wheel/forelock-*.dist-info/METADATA)
aarch64-linux-gnu-gcc --sysroot="$arm64/sysroot" -std=c11 "-DPACKAGE_VERSION=\"$version\"" -I"$source_dir/include" \
  "$source_dir/tests/package/consumer/main.c" -o "$root/plain" -L"$arm64/lib" -lforelock
"${in_root[@]}" -E LD_LIBRARY_PATH=/wheel/forelock/native -E "FORELOCK_ZOOKEEPER=$plain" /plain | held

step "Python, by the wheel, without TLS and with it"
cp "$source_dir/tests/package/languages/held.py" "$root/languages/"
for way in plain secure; do
  "${in_root[@]}" -E PYTHONPATH=/wheel -E PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 /languages/held.py /tmp \
    "/settings/$way.properties" | held_with_queue
done

step "Java, by a jar for both architectures, without TLS and with it"
mvn --batch-mode --quiet -f "$source_dir/bindings/java/pom.xml" package "-Dforelock.native=$build/java/native" \
  "-Dforelock.native.aarch64=$arm64/java/native" "-Dforelock.target=$work/java" -DskipTests -Dmaven.javadoc.skip=true \
  -Dmaven.source.skip=true
cp "$work/java/forelock-$version.jar" "$root/languages/forelock.jar"
javac --release 11 -Xlint:all -Werror -cp "$root/languages/forelock.jar" -d "$root/languages" \
  "$source_dir/tests/package/languages/Held.java"
mkdir "$work/here"
java -cp "$root/languages/forelock.jar:$root/languages" Held "$work/here" "$root/settings/plain.properties" |
  held_with_queue
for way in plain secure; do
  "${in_root[@]}" "$java" -cp /languages/forelock.jar:/languages Held /tmp "/settings/$way.properties" | held_with_queue
done

step "the search engines' plugins, each from its own folder"
for engine in opensearch elasticsearch; do
  zip=$(FORELOCK_NATIVE_AARCH64=$arm64/java/native "$source_dir/scripts/$engine.sh" build --from "$build")
  python3 -m zipfile -e "$zip" "$root/plugins/$engine"
  "${in_root[@]}" "$java" -cp "/plugins/$engine/forelock-$version.jar:/languages" Held /tmp \
    /settings/plain.properties >"$work/plugin" 2>&1 || true
  held <"$work/plugin"
done

step "without Kafka's client"
rm -- "$root"/usr/lib/aarch64-linux-gnu/librdkafka.so.1
"${in_root[@]}" "$java" -cp /languages/forelock.jar:/languages Held /tmp /settings/plain.properties \
  >"$work/without" 2>&1 && fail "there is a queue without it"
held <"$work/without"
grep -q 'install it (Debian: librdkafka1)' "$work/said" || fail "it is not said what is missing"

for input in "${inputs[@]}"; do exec {input}>&-; done
wait
step "done"
