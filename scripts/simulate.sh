#!/bin/sh
# Builds the simulator (release preset) and runs schedules. The last line is one line of JSON with the counts.
#   scripts/simulate.sh --schedules 1000000 [--seed S] [--threads T] …
set -eu
cd "$(dirname "$0")/.."
{
  cmake --preset release
  cmake --build build/release --target forelock_simulate
} >&2
exec build/release/tests/simulation/forelock_simulate "$@"
