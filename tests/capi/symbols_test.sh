#!/usr/bin/env bash
# What the C interface exports is what the list says: symbols_test.sh LIST LIBRARY... To add a function, add its line.
set -euo pipefail

list=$1
shift
found=$(for library in "$@"; do nm -D --defined-only "$library" | awk '$3 ~ /^fl_/ { print $3 }'; done | LC_ALL=C sort)
if ! diff -u "$list" - <<<"$found"; then
  echo "The exported functions are not those of $list: one that is missing breaks programs, a new one needs a line."
  exit 1
fi
