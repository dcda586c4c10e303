#!/usr/bin/env bash
# Real servers, real faults, recorded and judged: scripts/robustness.sh MODE [OPTION…]
#
#   --quick          two runs of 100 seconds, about five minutes in all
#   --full           eight runs of 210 seconds, about half an hour in all
#   --soak MINUTES   one run of that length; what every process uses must stay flat. Some clients are never killed
#   --contention MINUTES
#                    clients that contend and never die (30 minutes say much): nothing that they keep may grow
#   --prove          runs with deliberate bugs in the clients (mutation.h in src/core/lock and src/core/linger), each
#                    of which must be noticed
#   --tls            clients speak mutual TLS, and the servers TLS among themselves; with any of these but --contention
#   --sasl           clients of the library authenticate by SASL; in the same way, and with --tls as well
#   --seed N         one run with this seed alone, as a failing run says
#   --seconds S      the length of each run; not with --soak or --contention
#   --help           this text
#
# The last line is one line of JSON with the counts of all runs; --full and --soak write more of them into
# build/robustness/summary.json or soak.json, and tests/robustness/add_up.py --markdown FILE makes tables of it. Exit 1
# if a count that must be 0 is not, if no silent stall or no deposition was judged or a holder did not know in time that
# its lock was gone, if a history could not be judged by both checkers, or if a run did not come to its end: then its
# history stays in build/robustness, and the way to repeat it is shown. A run in which the servers themselves have lost
# transactions that they had confirmed is replaced once, visibly; late calls, hung processes, lost operations and growth
# in it fail all the same. tests/robustness/README.md says what is done, written down and judged.

# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

mode='' seconds='' minutes='' only='' tls='' sasl=''
choose() {
  [[ -z $mode ]] || die "choose $mode or $1, not both"
  mode=$1
}

[[ $# -gt 0 ]] || { show_help; exit 64; }
while [[ $# -gt 0 ]]; do
  case $1 in
    --quick | --full | --prove) choose "$1" ;;
    --soak | --contention | --seed | --seconds)
      [[ ${2:-} =~ ^[0-9]+$ ]] || die "$1 needs a number"
      case $1 in
        --soak | --contention) choose "$1"; minutes=$2 ;;
        --seed) only=$2 ;;
        --seconds) seconds=$2 ;;
      esac
      shift
      ;;
    --tls) tls=tls- ;;
    --sasl) sasl=sasl- ;;
    --help | -h) show_help; exit 0 ;;
    *) unknown_option "$1" ;;
  esac
  shift
done
[[ -n $mode$only ]] || die "choose --quick, --full, --soak, --contention, --prove or --seed"
[[ $mode != --contention || -z $tls$sasl ]] || die "--contention is without TLS and SASL"
[[ -z $minutes || -z $seconds ]] || die "$mode says how long already: leave --seconds out"

runs=$root/build/robustness
if [[ $mode == --contention ]]; then
  [[ $minutes -gt 0 ]] || die "--contention needs a minute at least"
  needs java
  build ci contention_worker >&2
  directory=$runs/contention
  rm -rf -- "$directory"
  mkdir -p -- "$directory"
  status=0
  /usr/bin/python3 -B tests/robustness/contention/contention_run.py --directory "$directory" \
    --seconds $((minutes * 60)) build/ci/tests/robustness/contention/contention_worker \
    > >(tee "$directory/contention.json") || status=$?
  [[ $status -eq 0 ]] || printf '%s-- FAILED. What the clients have said: %s%s\n' "$red" "$directory" "$plain" >&2
  exit "$status"
fi

seeds=(1) length=100 summary=quick.json more=()
case $mode in
  --quick) seeds=(1 2) ;;
  --full) seeds=(1 2 3 4 5 6 7 8) length=210 summary=summary.json ;;
  --prove) length=60 ;;
  --soak)
    length=$((minutes * 60)) summary=soak.json
    more+=(--sample 30 --spare 'api-2,async-2,letters-2,literal-2,sets-1')
    ;;
esac
[[ -z $only ]] || seeds=("$only")
case $tls$sasl in
  tls-sasl-) more+=(--transport tls+sasl) ;;
  ?*) more+=(--transport "${tls%-}${sasl%-}") ;;
esac
secured=$tls$sasl
seconds=${seconds:-$length}

# Half of the evidence would be none.
for program in go java kcat mvn; do
  command -v "$program" >/dev/null || die "$program is not installed, and without it the histories are not made and" \
    "judged as they should be: scripts/setup.sh installs it"
done
/usr/bin/python3 -c 'import kazoo' 2>/dev/null || die "kazoo is not installed (python3-kazoo): run scripts/setup.sh"

build ci robustness_run robustness_check linearizability >&2
scripts/kafka.sh jars >&2

programs=$root/build/ci/tests/robustness
directories=() failed=()
mkdir -p -- "$runs"

# Histories are written to memory, if there is enough of it, and moved when they are complete: on a disk that four Java
# servers sync all the time a line may take seconds, and what waits for it would look late.
scratch=$runs
if [[ $(df --output=avail -B1M /dev/shm 2>/dev/null | tail -n 1) -gt 4096 ]]; then
  scratch=$(mktemp -d /dev/shm/forelock-XXXXXX)
  trap 'rm -rf -- "$scratch"' EXIT
fi

# run_once NAME OPTION…: a run, its history in $runs/NAME afterwards.
run_once() {
  local name=$1 status=0
  shift
  rm -rf -- "${runs:?}/$name" "${scratch:?}/$name"
  mkdir -p -- "$scratch/$name"
  "$programs/runner/robustness_run" --directory "$scratch/$name" "$@" >"$scratch/$name/run.json" \
    2> >(grep --line-buffered -v ZOO_ERROR >&2) || status=$?
  [[ $scratch == "$runs" ]] || mv -- "$scratch/$name" "$runs/$name"
  return "$status"
}

# judge PROGRAM NAME DIRECTORY: its last line is kept as NAME.json.
judge() {
  local status=0
  "$1" "$3" >"$3/$2.out" || status=$?
  tail -n 1 "$3/$2.out" >"$3/$2.json"
  return "$status"
}

# Whether the servers themselves have lost what they had confirmed: then the history says nothing of the clients.
servers_lost() {
  /usr/bin/python3 -c 'import json, sys; sys.exit(json.load(open(sys.argv[1])).get("server_losses", 0) == 0)' "$1"
}

# Bugs that a minute on real servers shows; the simulator finds the rarer ones.
mutations=(no_deadline no_yield cleanup_gives_up no_cleanup_after_timeout lifo_within_class priority_ignored
  handed_out_twice)
# Bugs that show when servers part and a lock is held on the losing side: often enough, if nothing else is done.
parting=(--faults 'leader_deposed,leader_silenced,follower_forgotten' --rate 3)
mutations+=(sync_proves read_proves reconnect_proves)
if [[ $mode == --prove ]]; then
  noticed=0
  for mutation in "${mutations[@]}"; do
    directory=$runs/${secured}mutation-$mutation
    faults=()
    [[ $mutation != *_proves ]] || faults=("${parting[@]}")
    printf '%s== Mutation %s, %s seconds%s\n' "$bold" "$mutation" "$seconds" "$plain" >&2
    # Whatever the run itself says: it may well see that something is wrong.
    run_once "${secured}mutation-$mutation" --seed "${seeds[0]}" --seconds "$seconds" --mutation "$mutation" \
      "${more[@]}" "${faults[@]}" 2>/dev/null || true
    status=0
    judge "$programs/check/robustness_check" verdict "$directory" 2>"$directory/verdict.txt" || status=$?
    grep -v ' 0 violations$' "$directory/verdict.txt" | cut -c 1-200 | head -n 6 >&2 || true
    if [[ $status -eq 1 ]] && ! servers_lost "$directory/verdict.json"; then noticed=$((noticed + 1)); fi
  done
  printf '{"mutations":%d,"noticed":%d}\n' "${#mutations[@]}" "$noticed"
  [[ $noticed -eq ${#mutations[@]} ]] || exit 1
  exit 0
fi

replaced=()
queue=("${seeds[@]}")
while [[ ${#queue[@]} -gt 0 ]]; do
  seed=${queue[0]}
  queue=("${queue[@]:1}")
  name=${secured}seed-$seed
  [[ $mode != --soak ]] || name=${secured}soak
  directory=$runs/$name
  printf '%s== Seed %s, %s seconds%s\n' "$bold" "$seed" "$seconds" "$plain" >&2
  good=yes
  run_once "$name" --seed "$seed" --seconds "$seconds" "${more[@]}" || good=no
  judge "$programs/check/robustness_check" verdict "$directory" || good=no
  judge "$programs/linearizability/linearizability" linearizability "$directory" || good=no
  if [[ $seed -lt 1000 && $mode != --soak ]] && servers_lost "$directory/verdict.json"; then
    printf '%s-- Seed %s: ZooKeeper has lost transactions that it had confirmed; see %s. Another seed instead.%s\n' \
      "$red" "$seed" "$directory" "$plain" >&2
    replaced+=(--replaced "$directory")
    queue+=($((seed + 1000)))
    continue
  fi
  directories+=("$directory")
  if [[ $good == yes ]]; then
    find "$directory" -type f ! -name '*.json' -delete
    find "$directory" -mindepth 1 -type d -empty -delete
  else
    failed+=("$seed")
    printf '%s-- Seed %s: FAILED. Everything about it: %s%s\n   again: scripts/robustness.sh %s\n' "$red" "$seed" \
      "$directory" "$plain" "${tls:+--tls }${sasl:+--sasl }--seed $seed --seconds $seconds" >&2
  fi
done

status=0
/usr/bin/python3 tests/robustness/add_up.py --summary "$runs/$secured$summary" "${replaced[@]}" "${directories[@]}" ||
  status=1
[[ ${#failed[@]} -eq 0 ]] || status=1
exit "$status"
