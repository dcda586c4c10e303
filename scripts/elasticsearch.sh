#!/usr/bin/env bash
# A throw-away Elasticsearch cluster on this machine:
#   scripts/elasticsearch.sh build|provide|start|revive|stop|status [OPTION...]
#
#   build             builds the plugin, runs its unit tests, prints the name of its zip, and fetches what a cluster
#                     consists of; with --security that, too
#   provide           builds the plugin, if its sources or the native library are newer
#   start             starts a cluster, waits until it serves, and prints the address of each node (http://host:port);
#                     builds the plugin before, if its sources or the native library are newer
#   revive            starts those of its nodes again that have ended, and waits until all serve
#   stop              ends it and removes its data
#   status            prints the addresses, and ends with 0, if it runs; ends with 1 otherwise
#
#   --version V       of Elasticsearch: 8.19.0 (default), another 8.19, 7.17.28, or 9.2.0, which needs Java 21
#   --from FOLDER     the build whose native library the plugin gets (default: build/release, build/ci or build/dev)
#   --dir DIR         where the cluster lives (default: build/elasticsearch/cluster)
#   --nodes N         how many nodes (default: 1)
#   --heap SIZE       of each node (default: 512m)
#   --zookeeper LIST  the servers of the plugin's locks (default: those of its configuration file)
#   --set KEY=VALUE   a line more in elasticsearch.yml
#   --plain           without the plugin
#   --plugin ZIP      with another plugin, too
#   --security        with x-pack security, without TLS: user admin with the password Tests-of-Forelock-1
#   --help            this text
#
# Needs Java, and Maven the first time: the distribution stays in $FORELOCK_ELASTICSEARCH_LIB (default:
# build/elasticsearch/lib). Elasticsearch does not run as root; root starts it as user nobody, who must be able to enter
# DIR. For development and tests: no security unless asked for, and nothing is kept when it is stopped.

# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"
export LC_ALL=C

# shellcheck disable=SC2034  # they are for search_node.sh
engine=elasticsearch prefix=ES default_version=8.19.0 versions='^(7\.17|8\.19|9\.[0-9]+)\.[0-9]+$' newer=9 older=7
# shellcheck disable=SC2034
initial_nodes=cluster.initial_master_nodes own_settings=('xpack.security.enabled: false') secure_scheme=http

# The distribution that Maven has comes without most modules, and Maven has none of them for these versions.
add_modules() {
  :
}

provide_security() {
  : # each distribution has it
}

prepare_security() {
  own_settings=('xpack.security.enabled: true' 'xpack.security.http.ssl.enabled: false'
    'xpack.security.transport.ssl.enabled: false')
  HOME=$directory "${unprivileged[@]}" "$directory/home/bin/elasticsearch-users" useradd admin -p "$password" \
    -r superuser >"$directory/security.log" 2>&1 || { cat "$directory/security.log" >&2; die "no user"; }
}

# shellcheck source=search_node.sh
source "$root/scripts/search_node.sh"
