#!/usr/bin/env bash
# The demonstration's second half, about operations that cannot be done: scripts/demo_dead_letters.sh FORELOCK [KAFKA]
#
# Bulk operations run out of retries, because what they need is down; they become dead letters, are looked at, and are
# put through when it is up again. FORELOCK is the command to show, KAFKA the address of a broker; without one the
# outbox on this machine's disk is the queue. Needs a ZooKeeper: run it in `forelock dev --`. Ends with 0 if every
# letter was in the queue, was replayed, and left it empty.

# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

[[ $# -ge 1 ]] || { show_help >&2; exit 64; }
forelock=$(realpath -- "$1") kafka=${2:-}
directory=$(mktemp -d)
trap 'rm -rf -- "$directory"' EXIT
cd -- "$directory"

export FORELOCK_CONFIG=$directory/demo.properties
cat >"$FORELOCK_CONFIG" <<EOF
elastic.request.retry.count=2
dlq.outbox.path=$directory/outbox.db
${kafka:+kafka.bootstrap.servers=$kafka}
EOF

# The bulk operation. 75 means: try again later.
cat >propagate.sh <<'EOF'
#!/bin/sh
[ -e cluster-is-up ] || exit 75
grep -q '"revision": 17' || exit 1
echo "$FORELOCK_MONITOR" >>propagated
EOF
chmod +x propagate.sh
echo '{"revision": 17}' >article.json

heading() {
  printf '\n%s%s%s\n' "$bold" "$*" "$plain"
}

# run EXPECTED_CODE ARGUMENT...: shows a command, runs it, and insists on its exit code.
run() {
  local expected=$1 code=0
  shift
  printf '\n%s$ forelock%s%s\n' "$green" "$(printf ' %s' "${@@Q}" | sed "s/'\([][a-zA-Z0-9_./=-]*\)'/\1/g")" "$plain"
  "$forelock" "$@" || code=$?
  [[ $code -eq $expected ]] || die "that should have ended with $expected, not with $code"
}

# letters COUNT: insists on how many are in the queue.
letters() {
  local found
  found=$("$forelock" dlq list -o ndjson | wc -l)
  [[ $found -eq $1 ]] || die "there should be $1 letters in the queue, not $found"
}

[[ -z $kafka ]] || run 0 dlq init --partitions 3

heading "The search cluster is down. Bulk work is tried three times, with growing pauses, and then given up:"
for article in P1 P2 P3; do
  run 79 run --retry -m "$article" -p background --type propagate --payload article.json -- ./propagate.sh
done
[[ -z $kafka ]] || run 0 dlq forward

heading "None of it is lost:"
run 0 dlq list
letters 3
run 0 dlq stats

heading "The search cluster is up again. What would a replay do?"
touch cluster-is-up
run 0 dlq replay --exec ./propagate.sh --stdin payload
letters 3

heading "Do it:"
run 0 dlq replay --exec ./propagate.sh --stdin payload --execute
run 0 dlq list
letters 0
[[ $(sort propagated | tr '\n' ' ') == "P1 P2 P3 " ]] || die "not every article was propagated once: $(cat propagated)"
heading "The queue is empty, and every article was propagated once."
