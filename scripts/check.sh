#!/usr/bin/env bash
# Builds and tests what a change touches: scripts/check.sh [ROOM…]
#
#   ROOM     a room's name, e.g. lock; without one, the rooms of all files that are not committed
#   --help   this text
#
# Runs the unit tests of these rooms, simulated schedules if one of them belongs to the protocol, and the style. Builds
# with the preset dev, one source file a unit. Environment: FORELOCK_SCHEDULES, how many schedules (default: 2000).

# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

rooms=()
for argument in "$@"; do
  case $argument in
    --help | -h) show_help; exit 0 ;;
    -*) unknown_option "$argument" ;;
    *)
      [[ -n $(ls -d {src/core,src,dlq,bindings,command}/"$argument" 2>/dev/null) ]] ||
        die "there is no room '$argument'"
      rooms+=("$argument")
      ;;
  esac
done
tests=() simulated=no
if [[ ${#rooms[@]} -eq 0 ]]; then
  while read -r changed; do
    case $changed in
      src/core/*/*) rooms+=("$(cut -d/ -f3 <<<"$changed")") ;;
      src/*/* | dlq/*/* | bindings/*/* | command/*/*) rooms+=("$(cut -d/ -f2 <<<"$changed")") ;;
      include/*) rooms+=(client capi) ;;
      tests/simulation/*) simulated=yes ;;
    esac
  done < <(git diff --name-only HEAD; git ls-files --others --exclude-standard)
fi

[[ -d build/dev/check ]] || part "Configuration" check-configure cmake --preset dev
for room in "${rooms[@]}"; do
  case $room in
    agent | base | coordination | grouping | linger | lock | retry | sets) simulated=yes ;;
  esac
  [[ ! -f build/dev/check/$room ]] || mapfile -t -O "${#tests[@]}" tests <"build/dev/check/$room"
done
mapfile -t tests < <(printf '%s\n' "${tests[@]}" | sort -u | sed '/^$/d')

targets=("${tests[@]}")
[[ $simulated == no ]] || targets+=(forelock_simulate)
if [[ ${#targets[@]} -gt 0 ]]; then
  part "Build" check-build build dev "${targets[@]}"
fi
if [[ ${#tests[@]} -gt 0 ]]; then
  names=$(IFS='|' && echo "${tests[*]}")
  part "Unit tests" check-unit ctest --preset dev --parallel "$(parallel_jobs)" -R "^($names)\$"
fi
[[ $simulated == no ]] ||
  part "Simulated schedules" check-simulation build/dev/tests/simulation/forelock_simulate \
    --schedules "${FORELOCK_SCHEDULES:-2000}"
part "Style" check-style /usr/bin/python3 tests/style/check_style.py . --changed
