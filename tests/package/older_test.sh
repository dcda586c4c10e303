#!/usr/bin/env bash
# Uses what scripts/package.sh has made for older systems in a fresh Debian 11, which has Python 3.9 and Java 11: the
# command of the tarball, the wheel, the jar: older_test.sh SOURCE
#
# The system is a folder that mmdebstrap fills (kept in build/packages-root; it needs root and Debian's mirrors). The
# ZooKeeper is one of this machine, on its loopback address.
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=root.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/root.sh"
own_space bullseye --variant=minbase --include=python3-venv,python3-cffi,openjdk-11-jre-headless bullseye

older=/forelock/bin/forelock
in_root() {
  chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 XDG_STATE_HOME=/root/state "$@"
}

step "Debian 11"
fill_root
own_command
mkdir "$root/forelock"
tar --extract --file "$(echo "$packages"/forelock-*-linux-x86_64.tar.gz)" --directory "$root/forelock" \
  --strip-components 1
cp -r -- "$packages/python" "$packages/maven" "$source_dir/tests/package/languages" "$root/"

step "what is needed of the system, and of which age; hardening; notices"
mkdir "$work/wheel" "$work/jar" "$work/plugins"
/usr/bin/python3 -m zipfile -e "$packages"/python/forelock/*_x86_64.whl "$work/wheel"
/usr/bin/python3 -m zipfile -e "$packages/maven/org/forelock/forelock/$version/forelock-$version.jar" "$work/jar"
unpack_plugins "$work/plugins"
mapfile -t inside < <(find "$work/jar/org/forelock/native/linux-amd64" "$work"/plugins -name '*.so' ! -path '*aarch64*')
[[ ${#inside[@]} -eq $((2 + plugins)) ]] ||
  fail "two libraries in the jar, and one in each plugin, are expected: ${inside[*]}"
given=("$root$older" "$work"/wheel/forelock/native/* "${inside[@]}")
"$source_dir/tests/package/versions_test.sh" "${given[@]}"
"$source_dir/tests/package/hardened_test.sh" "${given[@]}"
for folder in "$root/forelock" "$work/jar/META-INF" "$work"/wheel/forelock-*.dist-info "$work"/plugins/*; do
  grep -q '^OpenSSL (' "$folder/NOTICES.txt" || fail "${folder#"$work"/} has no licenses of what is inside"
  grep -q 'Apache License' "$folder/LICENSE" || fail "${folder#"$work"/} has no license"
done

step "the command runs, with TLS and SASL inside"
[[ $(in_root "$older" --version) == "$("$forelock" --version)" ]] || fail "another version"
in_root "$older" --config /forelock/forelock.properties config >/dev/null
for setting in zookeeper.tls.ca.file=/nonexistent.pem zookeeper.sasl.mechanism=GSSAPI; do
  told=$(in_root "$older" --zookeeper 127.0.0.1:1 --set "$setting" doctor --quick 2>&1) || true
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
in_root "$older" -q --set elastic.request.retry.count=0 --zookeeper 127.0.0.1:1 \
  run -m P1 --timeout 100 --retry --type save -- true 2>"$work/run.log" || rc=$?
[[ $rc -eq 79 ]] || { cat "$work/run.log"; fail "a letter is expected (79), and the exit code is $rc"; }
letters() { grep -o '"id":"[^"]*"'; }
in_root "$older" -q -o json dlq list | letters >"$work/own"
env -u FORELOCK_CONFIG "XDG_STATE_HOME=$root/root/state" "$forelock" -q -o json dlq list | letters |
  diff "$work/own" - || fail "they do not see the same letters"
[[ $(wc -l <"$work/own") -eq 1 ]] || fail "there is not one letter: $(cat "$work/own")"

step "$(in_root python3 --version), and Java 11: a lock, and a queue of dead letters"
in_root python3 -m venv --system-site-packages /venv
in_root /venv/bin/pip --disable-pip-version-check --quiet install --index-url file:///python forelock
compile_held "$work/jar" "$root/languages"
with_server chroot "$root" /venv/bin/python -B /languages/held.py /tmp | held
with_server chroot "$root" java -cp "/maven/org/forelock/forelock/$version/forelock-$version.jar:/languages" Held /tmp |
  held

step "done"
