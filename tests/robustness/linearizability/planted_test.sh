#!/usr/bin/env bash
# planted_test.sh GO CACHE PROGRAM: builds and tests the checker, and shows it a clean history and one with two holders
# at once. Without Go it says so and is skipped (exit 77).
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
go=$1 cache=$2 program=$3
if [[ ! -x $go ]]; then
  echo "SKIPPED: no Go compiler, so the linearizability of histories is not checked (scripts/setup.sh installs one)"
  exit 77
fi
"$here/build.sh" "$go" "$cache" "$program" test

expect() {
  local exit_code=0
  "$program" "$here/../planted/$1" || exit_code=$?
  if [[ $exit_code -ne $2 ]]; then
    echo "the planted history '$1': exit $exit_code, not $2"
    exit 1
  fi
}
expect clean 0
expect overlap 1
