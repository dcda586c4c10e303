#!/usr/bin/env bash
# Real servers, real faults, recorded and judged: scripts/robustness.sh --quick|--full [--seed N] [--seconds S]
#
#   --quick        two runs of 100 seconds
#   --full         eight runs of 4 minutes
#   --seed N       one run with this seed alone, as a failing run says
#   --seconds S    the length of each run
#   --help         this text
#
# The last line is one line of JSON with the counts of all runs. Exit 1 if a count that must be 0 is not, if in a silent
# stall a holder did not know in time that its lock was gone, or if a run did not come to its end: then its history
# stays in build/robustness, and the way to repeat it is shown. tests/robustness/README.md says what is done, written
# down and judged.

# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

seeds=() seconds='' only=''
[[ $# -gt 0 ]] || { show_help; exit 64; }
while [[ $# -gt 0 ]]; do
  case $1 in
    --quick) seeds=(1 2) seconds=${seconds:-100} ;;
    --full) seeds=(1 2 3 4 5 6 7 8) seconds=${seconds:-240} ;;
    --seed | --seconds)
      [[ ${2:-} =~ ^[0-9]+$ ]] || die "$1 needs a number"
      if [[ $1 == --seed ]]; then only=$2; else seconds=$2; fi
      shift
      ;;
    --help | -h) show_help; exit 0 ;;
    *) unknown_option "$1" ;;
  esac
  shift
done
[[ -z $only ]] || seeds=("$only")
seconds=${seconds:-100}

targets=(robustness_run robustness_check)
if command -v go >/dev/null; then
  targets+=(linearizability)
else
  echo "No Go here: the histories are not checked for linearizability." >&2
fi
build dev "${targets[@]}" >&2

programs=$root/build/dev/tests/robustness
runs=$root/build/robustness
directories=() failed=()

# judge PROGRAM NAME DIRECTORY: its last line is kept as NAME.json.
judge() {
  local status=0
  "$1" "$3" >"$3/$2.out" || status=$?
  tail -n 1 "$3/$2.out" >"$3/$2.json"
  return "$status"
}

for seed in "${seeds[@]}"; do
  directory=$runs/seed-$seed
  printf '%s== Seed %s, %s seconds%s\n' "$bold" "$seed" "$seconds" "$plain" >&2
  rm -rf -- "$directory"
  mkdir -p -- "$directory"
  directories+=("$directory")
  good=yes
  "$programs/runner/robustness_run" --seed "$seed" --seconds "$seconds" --directory "$directory" \
    >"$directory/run.json" 2> >(tee "$directory/run.log" >&2) || good=no
  judge "$programs/check/robustness_check" verdict "$directory" || good=no
  if command -v go >/dev/null; then
    judge "$programs/linearizability/linearizability" linearizability "$directory" || good=no
  fi
  if [[ $good == yes ]]; then
    find "$directory" -type f ! -name '*.json' -delete
    find "$directory" -mindepth 1 -type d -empty -delete
  else
    failed+=("$seed")
    printf '%s-- Seed %s: FAILED. Everything about it: %s%s\n   again: scripts/robustness.sh --seed %s --seconds %s\n' \
      "$red" "$seed" "$directory" "$plain" "$seed" "$seconds" >&2
  fi
done

status=0
/usr/bin/python3 tests/robustness/add_up.py "${directories[@]}" || status=1
[[ ${#failed[@]} -eq 0 ]] || status=1
exit "$status"
