#!/usr/bin/env bash
# The part of scripts/demo.sh --opensearch that has a ZooKeeper server: a node of OpenSearch without the plugin and one
# with it, people who save articles, and bulk jobs that rewrite all of them at the same time. Run by `forelock dev`.

# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

directory=$(mktemp -d "${TMPDIR:-/tmp}/forelock-demo-XXXXXX")
chmod 755 "$directory"
stop() {
  scripts/opensearch.sh stop --dir "$directory/without" || true
  scripts/opensearch.sh stop --dir "$directory/with" || true
  rm -rf -- "$directory"
}
trap stop EXIT

printf 'Starting OpenSearch without the plugin and with it …\n'
without=$(scripts/opensearch.sh start --dir "$directory/without" --plain)
url=$(scripts/opensearch.sh start --dir "$directory/with" --from "$root/build/demo" --zookeeper "$FORELOCK_ZOOKEEPER")
printf 'They serve at %s and %s\n' "$without" "$url"
python3 scripts/opensearch/load.py "$url" --without "$without" --watch "$@"
