#!/usr/bin/env bash
# Runs every check of this repository, from a fresh clone on: scripts/test.sh [--quick] [--no-setup]
#
#   --quick      leaves out the faults on real servers, the sanitizer builds, fuzzing and the installed package
#   --no-setup   does not look for, or install, missing packages
#   --help       this text
#
# The first part that fails ends the run with exit 1. Output is kept in build/logs, one file a part. Environment:
# FORELOCK_JOBS, how much runs at once (default: one job a processor); FORELOCK_SCHEDULES, how many simulated schedules.

# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

quick=no setup=yes
for argument in "$@"; do
  case $argument in
    --quick) quick=yes ;;
    --no-setup) setup=no ;;
    --help | -h) show_help; exit 0 ;;
    *) unknown_option "$argument" ;;
  esac
done

# Tests with the label "real" start Java servers: more than two at a time only slow each other down.
slice() {
  ctest --preset dev --no-tests=error "$@"
}

[[ $setup == no ]] || part "Packages" setup scripts/setup.sh
part "Style and shell syntax" style /usr/bin/python3 tests/style/check_style.py .
part "Build, preset dev" build-dev build dev
part "Tests without a server" tests slice -LE 'real|package' --parallel "$(parallel_jobs)"
part "Tests against real servers" tests-real slice -L real -LE package --parallel 2
if [[ $quick == no ]]; then
  part "Faults on real servers" robustness scripts/robustness.sh --quick
  part "AddressSanitizer and UBSan" asan scripts/sanitize.sh asan
  part "ThreadSanitizer" tsan scripts/sanitize.sh tsan
  # Without the one whose build, the whole command's, takes longer than all others with their runs.
  part "Fuzzing" fuzz scripts/fuzz.sh --seconds 10 --without cli_arguments
  part "Installed package" package slice -L package
fi
printf '\n%sEverything passed in %d min %d s.%s\n' "$green" "$((SECONDS / 60))" "$((SECONDS % 60))" "$plain"
