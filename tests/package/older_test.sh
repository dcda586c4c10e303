#!/usr/bin/env bash
# Uses what scripts/package.sh has made for older systems in a fresh Debian 11, which has Python 3.9 and Java 11: the
# command of the tarball, the wheel, the jar: older_test.sh SOURCE
#
# The system is a folder that mmdebstrap fills (kept in build/packages-root; it needs root and Debian's mirrors). The
# ZooKeeper is one of this machine, on its loopback address.
set -euo pipefail

source_dir=$(cd -- "$1" && pwd)
packages=$source_dir/build/packages
base=$source_dir/build/packages-root/bullseye.tar
[[ $(id -u) -eq 0 ]] || { echo "older_test.sh: only root can enter another root" >&2; exit 77; }

# Within the new process space: everything that is started there ends with this script.
if [[ ${2:-} != inside ]]; then
  if [[ ! -f $base ]]; then
    mkdir -p "$(dirname -- "$base")"
    mmdebstrap --quiet --variant=minbase --include=python3-venv,python3-cffi,openjdk-11-jre-headless bullseye \
      "$base.new.tar"
    mv -- "$base.new.tar" "$base"
  fi
  work=$(mktemp -d)
  trap 'rm -rf --one-file-system -- "$work"' EXIT
  unshare --mount --pid --fork --kill-child "$0" "$source_dir" inside "$work"
  exit
fi

work=$3
root=$work/root
step() { printf '== %s\n' "$*"; }
fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
forelock=/forelock/bin/forelock
in_root() {
  chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 XDG_STATE_HOME=/root/state "$@"
}
# The command of the Debian package with a ZooKeeper; a command in the root is told where it is.
with_server() {
  "$work/here/usr/bin/forelock" dev -- env -u FORELOCK_CONFIG "$@"
}

step "Debian 11"
mkdir -p "$root/forelock" "$work/here"
tar --extract --file "$base" --directory "$root" --exclude './dev/*'
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
tar --extract --file "$(echo "$packages"/forelock-*-linux-x86_64.tar.gz)" --directory "$root/forelock" \
  --strip-components 1
cp -r -- "$packages/python" "$packages/maven" "$source_dir/tests/package/languages" "$root/"
dpkg-deb -x "$packages"/forelock_*.deb "$work/here"
version=$(dpkg-deb -f "$packages"/forelock_*.deb Version)

step "what is needed of the system, and of which age"
mkdir "$work/wheel" "$work/jar" "$work/plugins"
/usr/bin/python3 -m zipfile -e "$packages"/python/forelock/*.whl "$work/wheel"
/usr/bin/python3 -m zipfile -e "$packages/maven/org/forelock/forelock/$version/forelock-$version.jar" "$work/jar"
for plugin in "$packages"/forelock-*-for-*.zip; do
  /usr/bin/python3 -m zipfile -e "$plugin" "$work/plugins/$(basename "$plugin" .zip)"
done
mapfile -t inside < <(find "$work/jar/org/forelock/native/linux-amd64" "$work"/plugins -name '*.so' ! -path '*aarch64*')
[[ ${#inside[@]} -ge 5 ]] || fail "two libraries in the jar, and one in each plugin, are not there: ${inside[*]}"
"$source_dir/tests/package/versions_test.sh" "$root$forelock" "$work"/wheel/forelock/native/* "${inside[@]}"
for folder in "$root/forelock" "$work/jar/META-INF" "$work"/wheel/forelock-*.dist-info; do
  grep -q '^OpenSSL (' "$folder/NOTICES.txt" || fail "${folder#"$work"/} has no licenses of what is inside"
  grep -q 'Apache License' "$folder/LICENSE" || fail "${folder#"$work"/} has no license"
done

step "the command runs, with TLS and SASL inside"
[[ $(in_root "$forelock" --version) == "$("$work/here/usr/bin/forelock" --version)" ]] || fail "another version"
in_root "$forelock" --config /forelock/forelock.properties config >/dev/null
for setting in zookeeper.tls.ca.file=/nonexistent.pem zookeeper.sasl.mechanism=GSSAPI; do
  told=$(in_root "$forelock" --zookeeper 127.0.0.1:1 --set "$setting" doctor --quick 2>&1) || true
  if grep -q 'this build cannot' <<<"$told"; then fail "$told"; fi
done

step "a lock, and another one for the same"
# shellcheck disable=SC2016  # the variable is that of the shell in the other root
with_server chroot "$root" sh -ec '
  forelock=/forelock/bin/forelock
  $forelock -q doctor --quick
  test "$($forelock run -q -m P1 -- echo inside)" = inside
  $forelock run -q -m P1 -- $forelock run -q -m P1 --timeout 100 -- true && exit 1
  test $? -eq 75'

step "a dead letter, and its outbox read by the packaged command"
rc=0
in_root "$forelock" -q --set elastic.request.retry.count=0 --zookeeper 127.0.0.1:1 \
  run -m P1 --timeout 100 --retry --type save -- true 2>"$work/run.log" || rc=$?
[[ $rc -eq 79 ]] || { cat "$work/run.log"; fail "a letter is expected (79), and the exit code is $rc"; }
letters() { grep -o '"id":"[^"]*"'; }
in_root "$forelock" -q -o json dlq list | letters >"$work/own"
env -u FORELOCK_CONFIG "XDG_STATE_HOME=$root/root/state" "$work/here/usr/bin/forelock" -q -o json dlq list | letters |
  diff "$work/own" - || fail "they do not see the same letters"
[[ $(wc -l <"$work/own") -eq 1 ]] || fail "there is not one letter: $(cat "$work/own")"

step "$(in_root python3 --version), and Java 11: a lock, and a queue of dead letters"
in_root python3 -m venv --system-site-packages /venv
in_root /venv/bin/pip --disable-pip-version-check --quiet install --index-url file:///python forelock
javac --release 11 -Xlint:all -Werror -cp "$work/jar" -d "$root/languages" "$root/languages/Held.java"
with_server chroot "$root" /venv/bin/python -B /languages/held.py /tmp | tee "$work/python"
with_server chroot "$root" java -cp "/maven/org/forelock/forelock/$version/forelock-$version.jar:/languages" Held /tmp |
  tee "$work/java"
for said in "$work/python" "$work/java"; do
  grep -qE '^held P1 with token [1-9][0-9]*$' "$said" || fail "no lock: $(cat "$said")"
  grep -qxF "a queue of $version" "$said" || fail "no queue of this version: $(cat "$said")"
done

step "done"
