#!/usr/bin/env bash
# A throw-away OpenSearch cluster on this machine:
#   scripts/opensearch.sh build|provide|start|revive|stop|status [OPTION...]
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
#   --version V       of OpenSearch: 2.19.1 (default), or 3.3.0, which needs Java 21
#   --from FOLDER     the build whose native library the plugin gets (default: build/release, build/ci or build/dev)
#   --dir DIR         where the cluster lives (default: build/opensearch/cluster)
#   --nodes N         how many nodes (default: 1)
#   --heap SIZE       of each node (default: 512m)
#   --zookeeper LIST  the servers of the plugin's locks (default: those of its configuration file)
#   --set KEY=VALUE   a line more in opensearch.yml
#   --plain           without the plugin
#   --plugin ZIP      with another plugin, too
#   --security        with OpenSearch Security as its own demo configuration sets it up: https, user admin with the
#                     password Tests-of-Forelock-1
#   --help            this text
#
# Needs Java, and Maven the first time: the distribution stays in $FORELOCK_OPENSEARCH_LIB (default:
# build/opensearch/lib). OpenSearch does not run as root; root starts it as user nobody, who must be able to enter DIR.
# For development and tests: no security unless asked for, and nothing is kept when it is stopped.

# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"
export LC_ALL=C

# shellcheck disable=SC2034  # they are for search_node.sh
engine=opensearch prefix=OPENSEARCH default_version=2.19.1 versions='^[23]\.[0-9]+\.[0-9]+$' newer=3
# shellcheck disable=SC2034
initial_nodes=cluster.initial_cluster_manager_nodes own_settings=() secure_scheme=https
files=$root/scripts/opensearch

# module NAME ARTIFACT CLASS: the distribution that Maven has comes without modules.
module() {
  local folder=$distribution.new/modules/$1
  mkdir -p "$folder"
  maven -f "$files/pom.xml" dependency:copy-dependencies "-Dmodule=$2" "-Dopensearch.version=$version" \
    "-DoutputDirectory=$folder"
  local jar
  for jar in "$folder"/*.jar; do # the node has it already, and refuses what is there twice
    [[ ! -f $distribution.new/lib/${jar##*/} ]] || rm -- "$jar"
  done
  cp "$files/$1/plugin-security.policy" "$folder"
  cat >"$folder/plugin-descriptor.properties" <<END
name=$1
description=$1
version=$version
classname=$3
java.version=11
opensearch.version=$version
END
}

add_modules() {
  local plugin=Plugin
  [[ $version == 2.* ]] || plugin=ModulePlugin
  module reindex reindex-client "org.opensearch.index.reindex.Reindex$plugin"
  module lang-painless lang-painless "org.opensearch.painless.Painless$plugin"
}

# The plugin that the standard distribution has, and the one that Maven has does not.
provide_security() {
  exec {lock}>"$library/security-$version.lock"
  flock "$lock"
  if [[ ! -f $library/security-$version.zip ]]; then
    say "Fetching OpenSearch Security $version"
    fetch "org.opensearch.plugin:opensearch-security:$version.0:zip"
    mv -- "$library/opensearch-security.zip" "$library/security-$version.zip"
  fi
  exec {lock}>&-
}

prepare_security() {
  provide_security
  install_plugin "$library/security-$version.zip"
  OPENSEARCH_INITIAL_ADMIN_PASSWORD=$password HOME=$directory "${unprivileged[@]}" \
    bash "$directory/home/plugins/opensearch-security/tools/install_demo_configuration.sh" -y -i -s \
    >"$directory/security.log" 2>&1 || { cat "$directory/security.log" >&2; die "no demo configuration"; }
  # The nodes' own lines go over those of the demo.
  sed -i -e '/^network.host:/d' -e '/^node.max_local_storage_nodes:/d' "$directory/home/config/$engine.yml"
}

# shellcheck source=search_node.sh
source "$root/scripts/search_node.sh"
