#!/usr/bin/env bash
# The jar as it was built, on each of the JVMs: jar_test.sh JAR JAVAC JAVA…
set -euo pipefail

jar=$(readlink -f -- "$1") javac=$2
shift 2
here=$(dirname -- "$(readlink -f -- "$0")")
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

step() { printf '== %s\n' "$*"; }
fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }

# expect PATTERN COMMAND...: the pattern stands in what the command says, whether it succeeds or not.
expect() {
  local pattern=$1 said
  shift
  said=$("$@" 2>&1) || true
  grep -qE -e "$pattern" <<<"$said" || fail "no '$pattern' in: $said"
}

"$javac" --release 11 -cp "$jar" -d "$work/plain" "$here/jar/Probe.java"
"$javac" --release 11 -p "$jar" -d "$work/module" "$here"/jar/module/*.java
mkdir "$work/jars" "$work/unpacked"
cp -- "$jar" "$work/jars/forelock.jar"
jar=$work/jars/forelock.jar

# Name spaces of its own, in which a folder is mounted on itself with an option: mounted OPTION FOLDER COMMAND...
mounted() {
  # shellcheck disable=SC2016
  unshare -rm sh -c 'mount --bind "$1" "$1" && mount -o "remount,bind,$0" "$1" && shift && exec "$@"' "$@"
}
can_mount=no
mounted ro "$work/jars" true 2>/dev/null && can_mount=yes

for java in "$@"; do
  step "$("$java" -version 2>&1 | head -n 1)"
  expect '^loaded [0-9.]+$' "$java" -cp "$jar:$work/plain" Probe
  expect '^loaded [0-9.]+ in module org.forelock$' "$java" -p "$jar:$work/module" -m probe/probe.ModuleProbe
  expect '^loaded ([0-9.]+) \1 \1$' "$java" -cp "$jar:$work/plain" Probe "$jar"
  if [[ $can_mount == yes ]]; then
    mounted ro "$work/jars" touch "$work/jars/other" 2>/dev/null && fail "the folder is not read-only"
    expect '^loaded [0-9.]+$' mounted ro "$work/jars" "$java" -cp "$jar:$work/plain" Probe
    expect 'noexec.*-Dforelock\.native\.dir=' \
      mounted noexec "$work/unpacked" "$java" "-Dforelock.native.dir=$work/unpacked" -cp "$jar:$work/plain" Probe
  else
    step "nothing can be mounted here: no read-only folder, none that is not executable"
  fi
  [[ -z $(ls -A "$work/unpacked") ]] || fail "something is left in the folder for unpacking"
done
step "done"
