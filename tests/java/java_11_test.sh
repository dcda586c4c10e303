#!/usr/bin/env bash
# The Java package's tests on Java 11: java_11_test.sh SCRIPT MAVEN_COMMAND…; SCRIPT provides the runtime. Without the
# one that needs a compiler, which a runtime does not have.
set -euo pipefail

script=$1
shift
if ! java=$("$script"); then
  echo "SKIPPED: no Java 11 can be had here (scripts/java11.sh says why)"
  exit 77
fi
exec "$@" surefire:test "-Djvm=$java" '-Dtest=!DocumentationTest'
