#!/usr/bin/env bash
# run_target.sh PROGRAM INPUTS SECONDS: runs the libFuzzer target PROGRAM (fuzz_NAME or mutant_NAME) over its seeds in
# corpus/NAME and over what earlier runs have found in INPUTS, and goes on from there for so long. What breaks it is
# left in INPUTS/broken-*, with a command to repeat it.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
program=$1 inputs=$2 seconds=$3
name=${program##*/}
name=${name#*_}
options=(-max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_funcs=0 -print_final_stats=1
  -artifact_prefix="$inputs/broken-")
if [[ -f $here/$name.dict ]]; then
  options+=(-dict="$here/$name.dict")
fi
case $name in
  cli_arguments) options+=(-close_fd_mask=3) ;; # it says what is wrong with a command line, thousands of times a second
  # In so much code, weighing how rare it is what an input reaches takes libFuzzer most of the time. And a schedule of a
  # few steps breaks nothing: long ones from the start.
  engine | engine_replies) options+=(-entropic=0 -len_control=0 -max_len=1000) ;;
esac

mkdir -p "$inputs"
status=0
"$program" "${options[@]}" "$inputs" "$here/corpus/$name" || status=$?
if [[ $status -ne 0 ]]; then
  echo "${program##*/}: exit $status. To repeat it: $program $inputs/broken-…" >&2
fi
exit "$status"
