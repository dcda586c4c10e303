#!/usr/bin/env bash
# The part of scripts/demo.sh --opensearch that has a ZooKeeper server: a node of OpenSearch with the plugin, people who
# save articles, and bulk jobs that rewrite all of them at the same time. Run by `forelock dev`.

# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

directory=$(mktemp -d "${TMPDIR:-/tmp}/forelock-demo-XXXXXX")
chmod 755 "$directory"
stop() {
  scripts/opensearch.sh stop --dir "$directory/cluster" || true
  rm -rf -- "$directory"
}
trap stop EXIT

printf 'Starting OpenSearch with the plugin …\n'
url=$(scripts/opensearch.sh start --dir "$directory/cluster" --zookeeper "$FORELOCK_ZOOKEEPER")
printf 'It serves at %s\n' "$url"
python3 scripts/opensearch/load.py contend "$url" --watch "$@"
