#!/usr/bin/env bash
# Installs what scripts/package.sh has made into a fresh Debian 12, as a user would: root_test.sh SOURCE
#
# The system is a folder that mmdebstrap fills (kept in build/packages-root; it needs root and Debian's mirrors). The
# ZooKeeper is one of this machine, on its loopback address, started by the packaged command.
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=root.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/root.sh"
own_space bookworm-jre --variant=minbase --include=g++,cmake,make,pkg-config,openjdk-17-jre-headless bookworm

in_root() {
  chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"
}
apt() { in_root apt-get -q -o APT::Sandbox::User=root --yes --no-install-recommends "$@"; }
# install FOLDER: the packages in it, as the page says.
install_all() {
  local files=("$root/debs/$1"/*.deb)
  apt install "${files[@]/#"$root"/}"
}
as_forelock() {
  in_root setpriv --reuid=forelock --regid=forelock --clear-groups env XDG_STATE_HOME=/var/lib "$@"
}

step "a fresh system"
fill_root
own_command
mkdir -p "$root/debs/new" "$root/debs/old"
cp -- "$packages"/*.deb "$root/debs/new/"
rm -f -- "$root"/debs/new/*-dbgsym_*.deb

step "hardening"
for package in "$root"/debs/new/*.deb; do dpkg-deb -x "$package" "$work/unpacked"; done
mapfile -t given < <(find "$work/unpacked" -type f \( -name '*.so*' -o -path '*/bin/*' \))
[[ ${#given[@]} -eq 4 ]] || fail "the command and three libraries are expected: ${given[*]}"
"$source_dir/tests/package/hardened_test.sh" "${given[@]}"
rm -rf -- "$work/unpacked"

step "the same packages with a lower version"
for package in "$root"/debs/new/*.deb; do
  dpkg-deb -R "$package" "$work/unpacked"
  sed -i "s/^Version: .*/Version: $version~previous/; s/= ${version//./\\.})/= $version~previous)/g" \
    "$work/unpacked/DEBIAN/control"
  dpkg-deb --root-owner-group -b "$work/unpacked" "$root/debs/old/" >/dev/null
  rm -rf -- "$work/unpacked"
done

step "install, until a lock is held"
in_root apt-get -q update
begun=$SECONDS
install_all old
# shellcheck disable=SC2016  # the variable is that of the shell in the other root
with_server chroot "$root" sh -ec '
  test "$(forelock --version)" && forelock -q doctor --quick
  test "$(forelock run -q -m P1 -- echo inside)" = inside'
taken=$((SECONDS - begun))
echo "from apt to a lock: $taken s"
in_root id forelock >/dev/null || fail "the user forelock was not made"
in_root forelock --config /etc/forelock/forelock.properties config >/dev/null || fail "the configuration cannot be read"

step "whose the code inside is"
for name in forelock libforelock0.1 libforelock-dlq0.1 libforelock-jni; do
  in_root zgrep -q "^Apache ZooKeeper's C client" "/usr/share/doc/$name/NOTICES.txt.gz" || fail "$name does not say it"
done

step "nothing runs by itself"
[[ ! -e $root/etc/systemd/system/multi-user.target.wants/forelock-serve.service ]] || fail "the page is enabled"
[[ ! -e $root/etc/systemd/system/multi-user.target.wants/forelock-forward.service ]] || fail "the forwarder is enabled"

step "programs against libforelock-dev, by pkg-config and by CMake"
cp -r "$source_dir/tests/package/consumer" "$root/consumer"
# shellcheck disable=SC2016  # so here
in_root sh -ec 'c++ -std=c++20 "-DPACKAGE_VERSION=\"$(pkg-config --modversion forelock)\"" /consumer/main.cc \
  -o /plain $(pkg-config --cflags --libs forelock)
  cmake -S /consumer -B /consumer/build >/dev/null && cmake --build /consumer/build --target consumer queue_consumer'
for program in /plain /consumer/build/consumer /consumer/build/queue_consumer; do
  with_server chroot "$root" env "CONSUMER_OUTBOX=/tmp/outbox${program//\//-}/outbox.db" "$program"
done

step "Python and Java"
mkdir "$root/languages" "$work/classes"
cp "$source_dir/tests/package/languages/held.py" "$root/languages/"
dpkg-deb -x "$root"/debs/new/libforelock-java_*.deb "$work/java"
compile_held "$work/java/usr/share/java/forelock.jar" "$root/languages"
with_server chroot "$root" python3 -B /languages/held.py /tmp | held
with_server chroot "$root" java -cp /usr/share/java/forelock.jar:/languages Held /tmp | held

step "letters survive an upgrade, which keeps a changed configuration"
in_root install -d -o forelock -g forelock -m 0700 /var/lib/forelock
echo "elastic.request.retry.count=0" >>"$root/etc/forelock/forelock.properties"
for i in $(seq 5); do
  rc=0
  as_forelock forelock -q --config /etc/forelock/forelock.properties --zookeeper 127.0.0.1:1 \
    run -m "P$i" --timeout 100 --retry --type save -- true 2>"$work/run.log" || rc=$?
  [[ $rc -eq 79 ]] || { cat "$work/run.log"; fail "a letter is expected (79), and the exit code is $rc"; }
done
letters() { as_forelock forelock -q -o json dlq list | grep -o '"id":"[^"]*"' | sort; }
letters >"$work/before"
[[ $(wc -l <"$work/before") -eq 5 ]] || { cat "$work/before"; fail "there are not 5 letters"; }
install_all new
# shellcheck disable=SC2016  # a field of dpkg
[[ $(in_root dpkg-query -W -f '${Version}' forelock) == "$version" ]] || fail "forelock was not upgraded"
letters | diff "$work/before" - || fail "the letters are not those of before"
grep -q '^elastic.request.retry.count=0' "$root/etc/forelock/forelock.properties" ||
  fail "the configuration was replaced"

step "removal keeps the configuration and the letters, purge only the letters"
names=(forelock libforelock-dev libforelock-java libforelock-jni python3-forelock libforelock-dlq0.1 libforelock0.1)
apt remove "${names[@]}"
[[ ! -e $root/usr/bin/forelock && -e $root/etc/forelock/forelock.properties ]] || fail "removal"
apt purge forelock
[[ ! -e $root/etc/forelock ]] || fail "purge leaves $(ls "$root/etc/forelock")"
[[ -s $root/var/lib/forelock/outbox.db || -s $root/var/lib/forelock/forelock/outbox.db ]] ||
  fail "purge has deleted letters: $(find "$root/var/lib/forelock")"
left=$(find "$root/usr" "$root/lib" -name '*forelock*' | head)
[[ -z $left ]] || fail "purge leaves $left"

# Last, so that a busy machine does not hide the rest.
[[ $taken -le 60 ]] || fail "from apt to a lock it took $taken s, and not 60 s at most"

step "done"
