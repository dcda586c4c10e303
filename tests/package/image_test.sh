#!/usr/bin/env bash
# Builds the image of the Dockerfile with what scripts/package.sh has made, and runs it as one is told to, without
# rights and with nothing to write to but its volume: image_test.sh SOURCE [compiled]
#
# With "compiled" the image compiles the command itself, as it does without scripts/package.sh.
#
# buildah does it without an engine; it needs root. The base is what mmdebstrap makes of Debian's mirrors (kept in
# build/packages-root), in place of the image from a registry.
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=root.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/root.sh"
own_space bookworm-base --variant=minbase bookworm
command=${2:-packaged}

mount -t proc proc /proc
mkdir "$work/storage"
mount --bind "$work/storage" "$work/storage"
buildah() {
  command buildah --storage-driver vfs --root "$work/storage/root" --runroot "$work/storage/run" "$@"
}
own_command

step "the image, $command"
# Nothing that was compiled before is compiled again.
cache=()
if [[ $command == compiled ]] && command -v ccache >/dev/null; then
  cache=(--build-arg CMAKE_CXX_COMPILER_LAUNCHER=ccache
    --volume "$(ccache --get-config cache_dir):/root/.cache/ccache")
fi
empty=$(buildah from scratch)
buildah add --quiet "$empty" "$base" / >/dev/null
buildah commit --quiet --rm "$empty" forelock-base >/dev/null
buildah bud --isolation chroot --format docker --build-arg BASE=localhost/forelock-base \
  --build-arg "COMMAND=$command" "${cache[@]}" --tag forelock:local "$source_dir" >"$work/build.log" 2>&1 ||
  { tail -n 40 "$work/build.log"; fail "it cannot be built"; }
container=$(buildah from --pull-never forelock:local)
buildah inspect --type image forelock:local >"$work/config"
tell() {
  /usr/bin/python3 -c 'import json, sys
with open(sys.argv[1]) as file:
    print(eval(sys.argv[2], {"c": json.load(file)["Docker"]["config"]}))' "$work/config" "$1"
}
[[ $(tell 'c["User"]') == 10001:10001 ]] || fail "its user is $(tell 'c["User"]')"
[[ $(tell 'c["Healthcheck"]["Test"][:2]') == "['CMD', 'forelock']" ]] || fail "no health check"
[[ $(tell 'c["Entrypoint"]') == "['forelock']" ]] || fail "its entry point is $(tell 'c["Entrypoint"]')"

step "its size: at most 80 MB"
root=$(buildah mount "$container")
size=$(($(du --summarize --apparent-size --bytes "$root" | cut -f1) / 1000000))
echo "$size MB"
[[ $size -le 80 ]] || fail "it has $size MB"

step "nobody but root owns what is not its own; nothing gains rights"
left=$(find "$root" -xdev \( -perm /6000 -o ! -user root ! -path "$root/var/lib/forelock" \) | head)
[[ -z $left ]] || fail "$left"

step "read-only, as 10001, without capabilities"
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount -t tmpfs -o uid=10001,gid=10001,mode=0750 tmpfs "$root/var/lib/forelock"
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
mapfile -t words < <(tell '"\n".join(c["Env"])')
in_image() {
  setpriv --no-new-privs --bounding-set=-all,+sys_chroot,+setuid,+setgid --inh-caps=-all \
    chroot --userspec=10001:10001 --groups= "$root" /bin/env -i "${words[@]}" "FORELOCK_ZOOKEEPER=${servers:-}" "$@"
}
[[ $(in_image forelock --version) == "$("$forelock" --version)" ]] || fail "another version"
[[ $(in_image id -u) == 10001 ]] || fail "it is $(in_image id)"
in_image sh -c 'touch /usr/local/bin/other' 2>/dev/null && fail "the image can be written to"
in_image grep -q '^CapEff:[[:space:]]*0*$' /proc/self/status || fail "$(in_image grep Cap /proc/self/status)"

step "a lock, the health check, and a dead letter in the volume"
mkfifo "$work/address"
# shellcheck disable=SC2016  # so here
"$forelock" dev -- sh -c 'echo "$FORELOCK_ZOOKEEPER" >"$1"; read -r end <"$1"' sh "$work/address" \
  >"$work/dev.log" 2>&1 &
read -r servers <"$work/address"
in_image forelock -q doctor --quick || fail "the health check says no"
[[ $(in_image forelock run -q -m P1 -- echo inside) == inside ]] || fail "no lock"
working=$servers servers=127.0.0.1:1 rc=0
in_image forelock -q --set elastic.request.retry.count=0 run -m P1 --timeout 100 --retry --type save -- true \
  2>"$work/run.log" || rc=$?
[[ $rc -eq 79 ]] || { cat "$work/run.log"; fail "a letter is expected (79), and the exit code is $rc"; }
servers=$working
[[ $(in_image forelock -q -o json dlq list | grep -o '"id":' | wc -l) -eq 1 ]] || fail "there is not one letter"

step "authorities are known, and packages can be told"
in_image sh -c 'ls /etc/ssl/certs/*.0 >/dev/null && test -s /etc/ssl/certs/ca-certificates.crt'
grep -q '^Version:' "$root/var/lib/dpkg/status.d/libssl3"
for name in libssl3 libzookeeper-mt-dev nlohmann-json3-dev libcli11-dev forelock; do
  [[ -s $root/usr/share/doc/$name/copyright ]] || fail "the image does not say what may be done with $name"
done
echo end >"$work/address"
wait
step "done"
