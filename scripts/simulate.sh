#!/usr/bin/env bash
# Runs simulated schedules: scripts/simulate.sh --schedules N [--seed S] [--threads T] [--failures N]
#
#   --seed S     the first seed; alone: only this one, with its timeline
#   --help       this text
#
# Builds the simulator first (preset release). The last line is one line of JSON with the counts; exit 1 if a schedule
# has violated an invariant: its shrunk timeline stands above that line.

# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

case ${1:---help} in
  --help | -h) show_help; exit 0 ;;
esac
build release forelock_simulate >&2
exec build/release/tests/simulation/forelock_simulate "$@"
