#!/usr/bin/env bash
# Fuzzes, with libFuzzer, AddressSanitizer and UBSan: scripts/fuzz.sh [--seconds N] [TARGET]... | --prove
#
#   --seconds N      for each target (default 20; an hour finds more)
#   --without NAME   all targets but this one
#   --prove          fuzzes the protocol with deliberate bugs in it (src/core/lock/mutation.h), each of which must be
#                    noticed within a minute, or within N seconds
#   TARGET           one of tests/fuzz/NAME.cc, e.g. engine; without one, all of them, one after the other
#   --help           this text
#
# Builds the preset fuzz first (clang). Inputs that reach new code are kept in build/fuzz/tests/fuzz/TARGET, and the
# next run goes on from there; seeds are in tests/fuzz/corpus. What breaks a target is left as broken-* beside them:
# exit 1.

# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

seconds='' targets=() without='' prove=no
while [[ $# -gt 0 ]]; do
  case $1 in
    --seconds)
      [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || die "--seconds needs a number"
      seconds=$2
      shift
      ;;
    --without)
      [[ -f tests/fuzz/${2:-}.cc ]] || die "--without needs a target; see tests/fuzz"
      without=$2
      shift
      ;;
    --prove) prove=yes ;;
    --help | -h) show_help; exit 0 ;;
    -*) unknown_option "$1" ;;
    *)
      [[ -f tests/fuzz/$1.cc ]] || die "there is no target '$1'; see tests/fuzz"
      targets+=("$1")
      ;;
  esac
  shift
done

# Bugs that fuzzing shows within seconds, and the target that does; the simulator finds the others too.
mutations=(
  engine:no_deadline engine:deadline_from_receive_time engine:adopt_without_guid_check
  engine:unknown_claim_assumed_granted engine:unknown_create_retried engine:cleanup_gives_up
  engine:no_cleanup_after_timeout engine_replies:expired_holder_keeps_lock
)
if [[ $prove == yes ]]; then
  build fuzz mutant_engine mutant_engine_replies
  inputs=$root/build/fuzz/tests/fuzz/mutants
  rm -rf -- "$inputs"
  mkdir -p -- "$inputs" "$logs"
  noticed=0
  for entry in "${mutations[@]}"; do
    mutation=${entry#*:} target=${entry%:*} begun=$SECONDS
    # A broken promise counts, and nothing else that may end a program.
    FORELOCK_MUTATION=$mutation tests/fuzz/run_target.sh "build/fuzz/tests/fuzz/mutant_$target" "$inputs/$mutation" \
      "${seconds:-60}" >"$logs/fuzz-mutant-$mutation.log" 2>&1 || true
    if broken=$(grep -a -m 1 '^broken: ' "$logs/fuzz-mutant-$mutation.log"); then
      noticed=$((noticed + 1))
      printf '%s in %s, after %d s: %s\n' "$mutation" "$target" "$((SECONDS - begun))" "$broken"
    else
      printf '%s%s in %s: NOT noticed in %d s%s\n' "$red" "$mutation" "$target" "$((SECONDS - begun))" "$plain" >&2
    fi
  done
  printf '{"mutations":%d,"noticed":%d}\n' "${#mutations[@]}" "$noticed"
  [[ $noticed -eq ${#mutations[@]} ]] || exit 1
  exit 0
fi

if [[ ${#targets[@]} -eq 0 ]]; then
  for source in tests/fuzz/*.cc; do
    name=$(basename -- "$source" .cc)
    [[ $name == "$without" ]] || targets+=("$name")
  done
fi
build fuzz "${targets[@]/#/fuzz_}"
seconds=${seconds:-20}
for target in "${targets[@]}"; do
  part "$target, $seconds s" "fuzz-$target" tests/fuzz/run_target.sh "build/fuzz/tests/fuzz/fuzz_$target" \
    "$root/build/fuzz/tests/fuzz/$target" "$seconds"
done
