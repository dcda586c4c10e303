#!/usr/bin/env bash
# A short contention: short_test.sh CONTENTION_RUN
set -euo pipefail

directory=$(mktemp -d)
trap 'rm -rf -- "$directory"' EXIT
"$1" --directory "$directory" --seconds 40
