#!/usr/bin/env bash
# Fuzzes, with libFuzzer, AddressSanitizer and UBSan: scripts/fuzz.sh [--seconds N] [TARGET]...
#
#   --seconds N   for each target (default 20; an hour finds more)
#   TARGET        one of tests/fuzz/NAME.cc, e.g. engine; without one, all of them, one after the other
#   --help        this text
#
# Builds the preset fuzz first (clang). Inputs that reach new code are kept in build/fuzz/tests/fuzz/TARGET, and the
# next run goes on from there; seeds are in tests/fuzz/corpus. What breaks a target is left as broken-* beside them:
# exit 1.

# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

seconds=20 targets=()
while [[ $# -gt 0 ]]; do
  case $1 in
    --seconds)
      [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || die "--seconds needs a number"
      seconds=$2
      shift
      ;;
    --help | -h) show_help; exit 0 ;;
    -*) unknown_option "$1" ;;
    *)
      [[ -f tests/fuzz/$1.cc ]] || die "there is no target '$1'; see tests/fuzz"
      targets+=("$1")
      ;;
  esac
  shift
done
if [[ ${#targets[@]} -gt 0 ]]; then
  build fuzz "${targets[@]/#/fuzz_}"
else
  build fuzz fuzzers
  for program in build/fuzz/tests/fuzz/fuzz_*; do
    [[ ! -x $program || -d $program ]] || targets+=("${program##*/fuzz_}")
  done
fi
for target in "${targets[@]}"; do
  part "$target, $seconds s" "fuzz-$target" tests/fuzz/run_target.sh "build/fuzz/tests/fuzz/fuzz_$target" \
    "$root/build/fuzz/tests/fuzz/$target" "$seconds"
done
