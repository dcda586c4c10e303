#!/usr/bin/env bash
# Runs simulated schedules: scripts/simulate.sh [--schedules N] [--seed S] [--threads T] [--failures N]
#
#   --schedules N  how many (100000, as the tests run)
#   --seed S       the first seed; alone: only this one, with its timeline
#   --threads T    how many run at a time (as many as there are processors)
#   --failures N   goes on until so many schedules have failed, and lists them (1)
#   --help         this text
#
# Builds the simulator first (preset release). The last line is one line of JSON with the counts; exit 1 if a schedule
# has violated an invariant: its shrunk timeline stands above that line.

# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

build release forelock_simulate >&2
exec build/release/tests/simulation/forelock_simulate "$@"
