#!/usr/bin/env bash
# Runs every check that a change must pass, from a fresh clone on: scripts/test.sh [OPTION…]
#
#   --no-setup   does not look for, or install, missing packages
#   --real       the tests against real servers alone, after the build
#   --repeat N   runs the tests N times
#   --load       beside a load that takes every processor
#   --help       this text
#
# The first part that fails ends the run with exit 1. Output is kept in build/logs, one file a part. What takes longer
# is in scripts/evidence.sh, which knows what is due. Environment: FORELOCK_JOBS, how much runs at once (default: one
# job a processor); FORELOCK_SCHEDULES, how many simulated schedules (default: 10000).

# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

setup=yes real_only=no repeat=1 load=no
while [[ $# -gt 0 ]]; do
  case $1 in
    --no-setup) setup=no ;;
    --real) real_only=yes ;;
    --repeat)
      [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || die "--repeat needs a number"
      repeat=$2
      shift
      ;;
    --load) load=yes ;;
    --help | -h) show_help; exit 0 ;;
    *) unknown_option "$1" ;;
  esac
  shift
done
export FORELOCK_SCHEDULES=${FORELOCK_SCHEDULES:-10000}

# Most of these tests wait, for servers, time-outs and faults: twice as many at once keep the processors busy. Those
# that do not wait take several places (PROCESSORS in CMake).
waiting=$((2 * $(parallel_jobs)))

# slice PRESET LABELS OPTION…: without the tests that have one of these labels, or that scripts/evidence.sh runs.
slice() {
  ctest --preset "$1" --no-tests=error -LE "evidence${2:+|$2}" "${@:3}"
}

# Unit tests have one build, with AddressSanitizer and UBSan; everything else has the other one.
[[ $setup == no ]] || part "Packages" setup scripts/setup.sh
if [[ $real_only == no ]]; then
  part "Style and shell syntax" style /usr/bin/python3 tests/style/check_style.py .
  part "Build, preset asan, unit tests" build-asan build asan unit_tests
fi
part "Build, preset ci" build-ci build ci

if [[ $load == yes ]]; then
  for _ in $(seq "$(nproc)"); do
    (while :; do :; done) &
    busy+=("$!")
  done
  # shellcheck disable=SC2064
  trap "kill ${busy[*]}" EXIT
fi
for ((run = 1; run <= repeat; run++)); do
  of=''
  [[ $repeat -eq 1 ]] || of=", run $run of $repeat"
  if [[ $real_only == no ]]; then
    part "Unit tests under AddressSanitizer and UBSan$of" tests-unit slice asan "" -L unit --parallel "$(parallel_jobs)"
    part "Everything else$of" tests slice ci unit --parallel "$waiting"
  else
    part "Tests against real servers$of" tests slice ci "" -L real --parallel "$waiting"
  fi
done
printf '\n%sEverything passed in %d min %d s.%s\n' "$green" "$((SECONDS / 60))" "$((SECONDS % 60))" "$plain"
