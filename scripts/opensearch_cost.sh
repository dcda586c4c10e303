#!/usr/bin/env bash
# What the plugin for OpenSearch costs on this machine: scripts/opensearch_cost.sh [OPTION...] [-- OPTION of load.py...]
#
# Starts a throw-away ZooKeeper, a node of OpenSearch without the plugin, one whose locks do not linger, and one whose
# locks do; then lets single writes and bulks of 500 take turns: into guarded indices and others, of new documents and
# of the same ones again (scripts/opensearch/load.py cost). Prints the medians of the rounds: latency, and throughput.
#
#   --command FILE    the command line that starts the ZooKeeper (default: build/release/bin/forelock)
#   --contend         shows instead what people wait who save articles while bulk jobs rewrite all of them, guarded and
#                     not, with priorities and without (load.py contend)
#   --linger TIME     of that last node (default: 60000, in ms: longer than a round of all)
#   --from FOLDER, --version V   as scripts/opensearch.sh has them
#   --help            this text

# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

command=build/release/bin/forelock linger=60000 what=cost build=() given=("$@")
while [[ $# -gt 0 ]]; do
  case $1 in
    --command | --linger | --from | --version)
      [[ -n ${2:-} ]] || { say "${0##*/}: $1 needs a value"; exit 64; }
      case $1 in
        --command) command=$2 ;;
        --linger) linger=$2 ;;
        *) build+=("$1" "$2") ;;
      esac
      shift
      ;;
    --contend) what=contend ;;
    --help | -h) show_help; exit 0 ;;
    --) shift; break ;;
    *) unknown_option "$1" ;;
  esac
  shift
done
# A ZooKeeper as users run it, which the one for development is not: that compiles little, to start fast.
server_options="-Xmx1g -XX:TieredStopAtLevel=4 -XX:-UseSerialGC -XX:+UseG1GC"
[[ -n ${FORELOCK_ZOOKEEPER:-} ]] ||
  _JAVA_OPTIONS=$server_options exec "$command" dev -- env -u _JAVA_OPTIONS "$0" "${given[@]}"

directory=$(mktemp -d "${TMPDIR:-/tmp}/forelock-cost-XXXXXX")
chmod 755 "$directory"
stop() {
  scripts/opensearch.sh stop --dir "$directory/none" || true
  scripts/opensearch.sh stop --dir "$directory/plain" || true
  scripts/opensearch.sh stop --dir "$directory/linger" || true
  rm -rf -- "$directory"
}
trap stop EXIT

start() {
  scripts/opensearch.sh start "${build[@]}" --dir "$directory/$1" --zookeeper "$FORELOCK_ZOOKEEPER/$1" "${@:2}"
}
nodes=("plain=$(start plain)")
if [[ $what != contend ]]; then
  nodes+=("none=$(start none --plain)" "linger=$(start linger --set "forelock.zookeeper.lock.linger=$linger")")
fi
[[ $what == cost ]] || nodes=("${nodes[0]#plain=}")
python3 scripts/opensearch/load.py "$what" "${nodes[@]}" "$@"
