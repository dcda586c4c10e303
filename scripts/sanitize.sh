#!/usr/bin/env bash
# Builds and runs the tests under sanitizers: scripts/sanitize.sh [asan|tsan]... [--full]
#
#   asan      AddressSanitizer and UndefinedBehaviorSanitizer
#   tsan      ThreadSanitizer
#   --full    everything that runs without a server's help or with it, and as many simulated schedules as without
#             sanitizers; otherwise the tests that exercise threads and memory most, for a run of some minutes
#   --help    this text
#
# Without a name, both. The builds stay in build/asan and build/tsan. Environment: FORELOCK_JOBS, FORELOCK_SCHEDULES.

# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

presets=() full=no
for argument in "$@"; do
  case $argument in
    asan | tsan) presets+=("$argument") ;;
    --full) full=yes ;;
    --help | -h) show_help; exit 0 ;;
    *) unknown_option "$argument" ;;
  esac
done
[[ ${#presets[@]} -gt 0 ]] || presets=(asan tsan)
[[ $full == yes ]] || export FORELOCK_SCHEDULES=${FORELOCK_SCHEDULES:-2000}

# The reduced part: the adapter, the client and the lock on a real server under both; parsers and the protocol's memory
# under AddressSanitizer alone, since they have no threads.
declare -A reduced=(
  [asan]="unit_core unit_library unit_capi simulation_test zookeeper_session_test integration_lock
    integration_capi_misuse"
  [tsan]="zookeeper_session_test integration_lock unit_capi"
)

# GCC 12's ThreadSanitizer aborts at start when the kernel spreads addresses wider than it knows: switch that off where
# it is permitted.
steady_addresses=()
if setarch "$(uname -m)" -R true 2>/dev/null; then
  steady_addresses=(setarch "$(uname -m)" -R)
fi

export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:strict_string_checks=1:check_initialization_order=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
suppressions=$root/scripts/tsan.suppressions
export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1:second_deadlock_stack=1:suppressions=$suppressions}

for preset in "${presets[@]}"; do
  targets=(all unit_tests) select=(-LE 'style|package|docs')
  if [[ $full == no ]]; then
    targets=()
    read -rd '' -a targets <<<"${reduced[$preset]}" || true  # all lines; it ends at the end, not at a delimiter
    select=(-R "^($(IFS='|' && printf '%s' "${targets[*]}"))\$")
  fi
  build "$preset" "${targets[@]}"
  "${steady_addresses[@]}" ctest --preset "$preset" --no-tests=error "${select[@]}" --parallel 2
done
