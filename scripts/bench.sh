#!/usr/bin/env bash
# Builds the release preset and measures: scripts/bench.sh [--quick] [NAME...]
#
#   NAME       uncontended, contended, dlq or micro; all of them without a name
#   --quick    fewer rounds: a look, not a result
#   --help     this text
#
# Tables go to the terminal, results as JSON to build/bench/NAME.json; bench/README.md says how to read them.

# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

rounds=9 micro_time=0.5
names=()
for argument in "$@"; do
  case $argument in
    --quick) rounds=3 micro_time=0.05 ;;
    --help | -h) show_help; exit 0 ;;
    uncontended | contended | dlq | micro) names+=("$argument") ;;
    *) unknown_option "$argument" ;;
  esac
done
[[ ${#names[@]} -gt 0 ]] || names=(uncontended contended dlq micro)

programs=$root/build/release/bench
results=$root/build/bench
mkdir -p "$results"

measure() {
  local name=$1
  case $name in
    uncontended)
      "$programs/bench_uncontended" --rounds="$rounds" >"$results/$name.json"
      "$programs/bench_uncontended" --rounds="$rounds" --sync=off >"$results/$name-without-fsync.json"
      ;;
    contended) "$programs/bench_contended" --rounds="$rounds" >"$results/$name.json" ;;
    dlq)
      scripts/kafka.sh jars >&2
      "$programs/bench_dlq" --rounds="$rounds" >"$results/$name.json"
      ;;
    micro)
      "$programs/bench_micro" --benchmark_min_time="$micro_time" --benchmark_out_format=json \
        --benchmark_out="$results/$name.json"
      ;;
  esac
}

part "Build, preset release" bench-build build release bench_uncontended bench_contended bench_dlq bench_micro
for name in "${names[@]}"; do
  part "Measure: $name" "bench-$name" measure "$name"
done
printf '\nResults as JSON:\n'
ls -1 "$results"/*.json
