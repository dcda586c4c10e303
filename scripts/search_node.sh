# shellcheck shell=bash
# What the throw-away clusters of search engines have in common; to be sourced by a script of an engine, which has set
#   engine            opensearch or elasticsearch: the name of its programs, folders and packages
#   prefix            of the names in its environment
#   default_version   and $versions, a pattern of those that there are
#   newer             the major version for which the plugin's profile and Java differ
#   older             that for which the profile alone does; may be empty
#   initial_nodes     the setting that names the nodes of a new cluster
#   own_settings      lines that each node's configuration gets
#   secure_scheme     of the addresses, with --security
# and has the functions add_modules, and provide_security and prepare_security where there is an option --security.

action='' from='' directory=$root/build/$engine/cluster nodes=1 heap=512m zookeeper='' plain=no others=()
version=$default_version security=no
password=Tests-of-Forelock-1
settings=()
while [[ $# -gt 0 ]]; do
  case $1 in
    build | provide | start | revive | stop | status)
      [[ -z $action ]] || { say "${0##*/}: one of build, provide, start, revive, stop, status"; exit 64; }
      action=$1
      ;;
    --version | --from | --dir | --nodes | --heap | --zookeeper | --set | --plugin)
      [[ -n ${2:-} ]] || { say "${0##*/}: $1 needs a value"; exit 64; }
      case $1 in
        --version) version=$2 ;;
        --from) from=$(absolute "$2") ;;
        --dir) directory=$(absolute "$2") ;;
        --nodes) nodes=$2 ;;
        --heap) heap=$2 ;;
        --zookeeper) zookeeper=$2 ;;
        --plugin) others+=("$(absolute "$2")") ;;
        --set) settings+=("${2/=/: }") ;;
      esac
      shift
      ;;
    --plain) plain=yes ;;
    --security) security=yes ;;
    --help | -h) show_help; exit 0 ;;
    *) unknown_option "$1" ;;
  esac
  shift
done
[[ -n $action ]] || { show_help >&2; exit 64; }
[[ $version =~ $versions ]] || { say "${0##*/}: --version needs one such as $default_version"; exit 64; }
[[ $nodes =~ ^[1-9]$ ]] || { say "${0##*/}: --nodes needs a number from 1 to 9"; exit 64; }

library_variable=FORELOCK_${engine^^}_LIB
library=$(absolute "${!library_variable:-$root/build/$engine/lib}")
distribution=$library/$version
if [[ -z $from ]]; then
  from=$root/build/release
  for other in ci dev; do
    [[ -f $from/java/native/libforelock_jni.so ]] || from=$root/build/$other
  done
fi
target=$from/$engine/$engine-$version # a zip is for exactly one version
zip=$target/forelock-$engine-0.1.0.zip

# --- what it consists of -------------------------------------------------------------------------------------------

# What is newer needs Java 21 or later; the newest that is there will do.
find_java() {
  command -v java >/dev/null || die "java is not installed: run scripts/setup.sh"
  JAVA_HOME=$(dirname -- "$(dirname -- "$(readlink -f "$(command -v java)")")")
  if [[ $version == "$newer".* ]]; then
    JAVA_HOME=$(newer_java)
    [[ -n $JAVA_HOME ]] || die "$engine $version needs Java 21 or later, and there is none in /usr/lib/jvm"
  fi
  export JAVA_HOME "${prefix}_JAVA_HOME=$JAVA_HOME"
}

maven() {
  needs mvn
  mvn --batch-mode --quiet -Dstyle.color=never "$@" >&2
}

provide_distribution() {
  mkdir -p -- "$library"
  exec {lock}>"$distribution.lock"
  flock "$lock"
  if [[ ! -d $distribution ]]; then
    say "Fetching $engine $version into $distribution"
    rm -rf -- "$distribution.new"
    fetch "org.$engine.distribution.integ-test-zip:$engine:$version:zip"
    python3 -c 'import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])' \
      "$library/$engine.zip" "$library/unpacked"
    mv -- "$library/unpacked/$engine-$version" "$distribution.new"
    rm -rf -- "$library/$engine.zip" "$library/unpacked"
    chmod +x "$distribution.new"/bin/*
    add_modules
    mv -- "$distribution.new" "$distribution"
  fi
  exec {lock}>&-
}

# fetch ARTIFACT: into the library, without its version in the name. What Maven has fetched once needs no network.
fetch() {
  maven -f "$root/scripts/opensearch/pom.xml" dependency:copy -Dmodule=none -Dopensearch.version=0 \
    -Dmdep.stripVersion=true "-Dartifact=$1" "-DoutputDirectory=$library"
}

build_plugin() {
  local java=$from/opensearch/java
  [[ -f $from/java/native/libforelock_jni.so ]] ||
    die "$from/java/native has no libforelock_jni.so: build the targets forelock_jni and forelock_jni_dlq"
  # Without the native library: it lies beside the jars in the zip, where the node's security policy finds it.
  maven -f "$root/bindings/java/pom.xml" package "-Dforelock.target=$java" -Dforelock.native=/nonexistent \
    -Denforcer.skip -DskipTests -Dmaven.javadoc.skip=true -Dmaven.source.skip=true
  maven -f "$root/search/pom.xml" package "-Dforelock.jar=$java/forelock-0.1.0.jar" \
    "-Dforelock.target=$from/opensearch/search"
  local profile=()
  [[ $version != "$newer".* ]] || profile=("-P$engine-$newer")
  [[ -z ${older:-} || $version != "$older".* ]] || profile=("-P$engine-$older")
  maven -f "$root/$engine/pom.xml" package "${profile[@]}" "-D$engine.version=$version" \
    "-Dforelock.jar=$java/forelock-0.1.0.jar" "-Dforelock.search=$from/opensearch/search" \
    "-Dforelock.native=$from/java/native" "-Dforelock.target=$target"
  touch "$zip" # newer than what it was made of, also where nothing had to be made
  printf '%s\n' "$zip"
}

# Whether the zip is there, and what it is made of has not changed since.
is_built() {
  [[ -f $zip ]] && [[ -z $(find "$root/$engine" "$root/opensearch/src" "$root/search" \
    "$root/bindings/java/pom.xml" "$root/bindings/java/src/main" "$from/java/native" \
    -type f -newer "$zip" -not -path "*/src/test/*" -print -quit) ]]
}

# --- the cluster ---------------------------------------------------------------------------------------------------

# Before a command: as another user than root.
unprivileged=(env)
[[ $(id -u) -ne 0 ]] || unprivileged=(setpriv --reuid=65534 --regid=65534 --clear-groups)

own() {
  [[ $(id -u) -ne 0 ]] || chown -R 65534:65534 "$@"
}

# configure NODE HTTP_PORT TRANSPORT_PORT SEEDS
configure() {
  local folder=$directory/node$1
  mkdir -p "$folder/data" "$folder/logs"
  cp -r "$directory/home/config" "$folder/config"
  {
    printf 'cluster.name: forelock\nnode.name: node%s\n' "$1"
    printf 'network.host: 127.0.0.1\nhttp.port: %s\ntransport.port: %s\n' "$2" "$3"
    printf 'path.data: %s\npath.logs: %s\n' "$folder/data" "$folder/logs"
    printf 'cluster.routing.allocation.disk.threshold_enabled: false\n'
    if [[ $nodes -eq 1 ]]; then
      printf 'discovery.type: single-node\n'
    else
      printf 'discovery.seed_hosts: [%s]\n%s: [node1]\n' "$4" "$initial_nodes"
    fi
    [[ -z $zookeeper || $plain == yes ]] || printf 'forelock.zookeeper.servers: "%s"\n' "$zookeeper"
    [[ ${#own_settings[@]} -eq 0 ]] || printf '%s\n' "${own_settings[@]}"
    [[ ${#settings[@]} -eq 0 ]] || printf '%s\n' "${settings[@]}"
  } >>"$folder/config/$engine.yml"
  local scheme=http
  [[ $security == no ]] || scheme=$secure_scheme
  printf '%s://127.0.0.1:%s\n' "$scheme" "$2" >"$folder/address"
}

# launch NODE: in the background, in a process group of its own; writes node.pid. With what is in DIR/nodeN/home, if
# that is there: a node may have other plugins than the others.
launch() {
  local folder=$directory/node$1 home=$directory/home
  [[ ! -d $folder/home ]] || home=$folder/home
  mkdir -p "$folder/tmp" # a node that is killed does not remove its own
  own "$folder"
  (
    cd "$folder" || exit 1
    export "${prefix}_PATH_CONF=$folder/config" "${prefix}_JAVA_OPTS=-Xms$heap -Xmx$heap" "${prefix}_TMPDIR=$folder/tmp"
    export HOME=$folder
    exec setsid "${unprivileged[@]}" "$home/bin/$engine" </dev/null >>"$folder/output.log" 2>&1
  ) &
  printf '%s\n' "$!" >"$folder/node.pid"
  local deadline=$((SECONDS + 20))
  until running "$folder" || [[ $SECONDS -ge $deadline ]]; do sleep 0.05; done
}

# running NODE_FOLDER: whether the node that was started there still runs; process numbers are used again.
running() {
  local pid entry
  pid=$(cat "$1/node.pid" 2>/dev/null) || return 1
  while IFS= read -r -d '' entry; do
    [[ $entry != "${prefix}_PATH_CONF=$1/config" ]] || return 0
  done 2>/dev/null <"/proc/$pid/environ"
  return 1
}

# ended NODE_FOLDER: a program that is just becoming another one has no environment for a moment.
ended() {
  ! running "$1" && sleep 1 && ! running "$1"
}

serving() {
  python3 - "$1" "$nodes" "$password" 2>/dev/null <<'END'
import base64, json, ssl, sys, urllib.request
user = base64.b64encode(b"admin:" + sys.argv[3].encode()).decode()
request = urllib.request.Request(sys.argv[1] + "/_cluster/health", headers={"Authorization": "Basic " + user})
health = json.load(urllib.request.urlopen(request, timeout=5, context=ssl._create_unverified_context()))
sys.exit(health["number_of_nodes"] != int(sys.argv[2]) or health["status"] == "red")
END
}

end_all() {
  local folder pid deadline=$((SECONDS + 30))
  for folder in "$directory"/node?; do
    ! running "$folder" || kill -TERM "$(cat "$folder/node.pid")" 2>/dev/null || true
  done
  for folder in "$directory"/node?; do
    while running "$folder"; do
      pid=$(cat "$folder/node.pid")
      kill -CONT "$pid" 2>/dev/null || true
      [[ $SECONDS -lt $deadline ]] || kill -KILL "$pid" 2>/dev/null || true
      sleep 0.05
    done
  done
}

# Nothing is removed that this script has not made.
remove_data() {
  [[ -e $directory ]] || return 0
  [[ -d $directory/home || -z $(ls -A -- "$directory") ]] ||
    die "$directory holds other things; name another folder with --dir"
  rm -rf -- "$directory"
}

# install_plugin ZIP
install_plugin() {
  cp "$1" "$directory/plugin.zip"
  own "$directory/plugin.zip"
  HOME=$directory "${unprivileged[@]}" "$directory/home/bin/$engine-plugin" install --batch \
    "file://$directory/plugin.zip" >"$directory/install.log" 2>&1 ||
    { cat "$directory/install.log" >&2; die "${1##*/} cannot be installed"; }
}

prepare() {
  provide_distribution
  mkdir -p "$directory"
  cp -r "$distribution" "$directory/home"
  own "$directory" "$directory/home"
  "${unprivileged[@]}" test -w "$directory/home" ||
    die "user nobody cannot enter $directory: name another folder with --dir"
  [[ $security == no ]] || prepare_security
  if [[ $plain == no ]]; then
    is_built || build_plugin >/dev/null
    install_plugin "$zip"
    local other
    for other in "${others[@]}"; do
      install_plugin "$other"
    done
  fi
}

start() {
  end_all
  remove_data
  prepare
  local ports seeds='' node
  read -ra ports < <(free_ports $((2 * nodes)))
  for ((node = 1; node <= nodes; ++node)); do
    seeds+=${seeds:+, }"\"127.0.0.1:${ports[nodes + node - 1]}\""
  done
  for ((node = 1; node <= nodes; ++node)); do
    configure "$node" "${ports[node - 1]}" "${ports[nodes + node - 1]}" "$seeds"
    launch "$node"
  done
  wait_until_serving
}

# A node beside whose start clients keep the whole machine busy takes minutes. Which of them is missing is not known:
# each waits for all.
wait_until_serving() {
  local folder deadline=$((SECONDS + 420))
  for folder in "$directory"/node?; do
    until serving "$(cat "$folder/address")"; do
      if ended "$folder" || [[ $SECONDS -ge $deadline ]]; then
        tail -n 40 "$directory"/node?/output.log >&2
        end_all
        die "${folder##*/} does not start, or does not see all others; what they said is in $directory"
      fi
      sleep 0.2
    done
  done
  cat "$directory"/node?/address
}

revive() {
  local folder
  nodes=0
  for folder in "$directory"/node?; do
    [[ -d $folder ]] || die "there is no cluster in $directory"
    nodes=$((nodes + 1))
    running "$folder" || launch "${folder##*/node}"
  done
  wait_until_serving
}

find_java
case $action in
  build)
    build_plugin
    provide_distribution
    [[ $security == no ]] || provide_security
    ;;
  provide) is_built || build_plugin >/dev/null ;;
  start) start ;;
  revive) revive ;;
  status)
    for folder in "$directory"/node?; do
      running "$folder" || { say "No node runs in $folder"; exit 1; }
      cat "$folder/address"
    done
    ;;
  stop)
    end_all
    remove_data
    ;;
esac
