#!/usr/bin/env bash
# A short run with all kinds of faults, and its verdict: smoke_test.sh ROBUSTNESS_RUN ROBUSTNESS_CHECK
set -euo pipefail

directory=$(mktemp -d)
trap 'rm -rf -- "$directory"' EXIT
"$1" --directory "$directory/history" --seed 100 --seconds 15
"$2" "$directory/history"
