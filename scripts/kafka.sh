#!/usr/bin/env bash
# A throw-away Kafka broker on this machine: scripts/kafka.sh start|stop|status|jars [OPTION...]
#
#   start          starts one, waits until it serves, and prints its address (host:port) on standard output; if it runs
#                  already, prints its address
#   stop           ends it and removes its data
#   status         prints its address, and ends with 0, if it serves; ends with 1 otherwise
#   jars           only fetches what a broker consists of, and prints the folder's name
#
#   --dir DIR      where it keeps its data, log and process number (default: build/kafka/broker)
#   --port PORT    where it listens, on 127.0.0.1 (default: a free port)
#   --help         this text
#
# Needs Java, kcat, and Maven the first time: the jars (46 MB) stay in $FORELOCK_KAFKA_LIB (default: build/kafka/lib).
# For development and tests: one node, no security, and nothing is kept when it is stopped.

# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"
export LC_ALL=C

action='' directory=$root/build/kafka/broker wanted_port=''
while [[ $# -gt 0 ]]; do
  case $1 in
    start | stop | status | jars)
      [[ -z $action ]] || { say "${0##*/}: one of start, stop, status, jars"; exit 64; }
      action=$1
      ;;
    --dir)
      [[ -n ${2:-} ]] || { say "${0##*/}: --dir needs a folder"; exit 64; }
      directory=$(absolute "$2")
      shift
      ;;
    --port)
      [[ ${2:-} =~ ^[1-9][0-9]{0,4}$ && $2 -le 65535 ]] ||
        { say "${0##*/}: --port needs a number from 1 to 65535"; exit 64; }
      wanted_port=$2
      shift
      ;;
    --help | -h) show_help; exit 0 ;;
    *) unknown_option "$1" ;;
  esac
  shift
done
[[ -n $action ]] || { show_help >&2; exit 64; }

files=$root/scripts/kafka
library=$(absolute "${FORELOCK_KAFKA_LIB:-$root/build/kafka/lib}")
prepared=$library/prepared

# --- one broker ----------------------------------------------------------------------------------------------------

# write_configuration FOLDER PORT CONTROLLER_PORT
write_configuration() {
  cat "$files/server.properties" - >"$1/server.properties" <<END
listeners=PLAINTEXT://127.0.0.1:$2,CONTROLLER://127.0.0.1:$3
advertised.listeners=PLAINTEXT://127.0.0.1:$2
controller.quorum.voters=1@127.0.0.1:$3
log.dirs=$1/data
END
  printf '127.0.0.1:%s\n' "$2" >"$1/address"
}

# launch FOLDER OPTIONS_FILE [JAVA_OPTION...]: in the background, in a process group of its own; writes broker.pid.
launch() {
  local folder=$1 options=$2
  shift 2
  setsid java "@$options" -Dlog4j.configuration="file:$files/log4j.properties" \
    -Dforelock.log="$folder/server.log" "$@" \
    kafka.Kafka "$folder/server.properties" </dev/null >>"$folder/output.log" 2>&1 &
  printf '%s\n' "$!" >"$folder/broker.pid"
}

# running FOLDER: whether the broker that was started there still runs; process numbers are used again.
running() {
  local pid
  pid=$(cat "$1/broker.pid" 2>/dev/null) || return 1
  tr '\0' '\n' 2>/dev/null <"/proc/$pid/cmdline" | grep -qxF "$1/server.properties"
}

listening() {
  (exec 3<>"/dev/tcp/${1/://}") 2>/dev/null
}

# Looks first whether somebody listens: kcat would wait for it.
serving() {
  running "$1" || return 1
  local address
  address=$(cat "$1/address")
  listening "$address" && kcat -b "$address" -L -m 5 >/dev/null 2>&1
}

wait_until_serving() {
  local deadline=$((SECONDS + 60))
  until serving "$1"; do
    running "$1" && [[ $SECONDS -lt $deadline ]] || return 1
    sleep 0.05
  done
}

# end FOLDER: politely, then firmly.
end() {
  running "$1" || return 0
  local pid deadline=$((SECONDS + 20))
  pid=$(cat "$1/broker.pid")
  kill -TERM "$pid" 2>/dev/null || true
  while running "$1"; do
    [[ $SECONDS -lt $deadline ]] || kill -KILL "$pid" 2>/dev/null || true
    sleep 0.05
  done
}

# --- what it consists of -------------------------------------------------------------------------------------------

fetch_jars() {
  command -v mvn >/dev/null || die "Maven fetches the broker's jars, and is not installed: run scripts/setup.sh"
  say "Fetching the broker's jars into $library"
  local new=$library.new log=$library.log
  rm -rf -- "$new"
  if ! mvn --batch-mode --strict-checksums -f "$files/pom.xml" dependency:copy-dependencies \
    -DoutputDirectory="$new" >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    die "Maven could not fetch the jars (see $log). Without a network, copy that folder from another machine, and" \
      "name it in FORELOCK_KAFKA_LIB"
  fi
  rm -f -- "$log"
  rm -rf -- "$library"
  mv -- "$new" "$library"
}

# java_options [OPTION...]: for `java @FILE`, with quotes for names with blanks.
java_options() {
  local jars=("$library"/*.jar)
  printf -- '-XX:TieredStopAtLevel=1\n-XX:+UseSerialGC\n-Xmx256m\n-Xshare:auto\n'
  [[ $# -eq 0 ]] || printf '"%s"\n' "$@"
  printf -- '-cp\n"%s"\n' "$(IFS=:; printf '%s' "${jars[*]}")"
}

# A formatted store, to be copied for each new broker, and an archive of the classes that one loads: both halve the time
# of a start. They name this folder, so a copy of it has to be prepared again.
prepare() {
  say "Preparing $library"
  local new=$prepared.new broker=$prepared.new/broker
  rm -rf -- "$new" "$prepared"
  mkdir -p "$broker"
  java_options >"$new/java.options"
  read -ra ports < <(free_ports 2)
  write_configuration "$broker" "${ports[@]}"
  java "@$new/java.options" -Dlog4j.configuration="file:$files/log4j.properties" -Dforelock.log="$broker/server.log" \
    kafka.tools.StorageTool format --cluster-id Rm9yZWxvY2stLWJyb2tlcg -c "$broker/server.properties" >&2
  cp -r "$broker/data" "$new/formatted"
  trap 'end "$prepared.new/broker"' EXIT
  launch "$broker" "$new/java.options" -XX:ArchiveClassesAtExit="$new/classes.jsa" -Xlog:cds=error
  wait_until_serving "$broker" || { cat "$broker"/*.log >&2; die "the broker does not start"; }
  end "$broker"
  trap - EXIT
  [[ ! -f $new/classes.jsa ]] || java_options "-XX:SharedArchiveFile=$prepared/classes.jsa" >"$new/java.options"
  rm -rf -- "$broker"
  mv -- "$new" "$prepared"
}

# Several may ask at once: the first does it, the others wait.
provide_jars() {
  command -v java >/dev/null || die "java is not installed: run scripts/setup.sh"
  command -v kcat >/dev/null || die "kcat is not installed: run scripts/setup.sh"
  mkdir -p -- "$(dirname -- "$library")"
  exec {lock}>"$library.lock"
  flock "$lock"
  compgen -G "$library/kafka_*.jar" >/dev/null || fetch_jars
  grep -qF "\"$library/" "$prepared/java.options" 2>/dev/null || prepare
  exec {lock}>&-
}

# --- actions -------------------------------------------------------------------------------------------------------

# Nothing is removed that this script has not made.
remove_data() {
  [[ -e $directory ]] || return 0
  [[ -f $directory/broker.pid && -f $directory/server.properties ]] || [[ -z $(ls -A -- "$directory") ]] ||
    die "$directory holds other things; name another folder with --dir"
  rm -rf -- "$directory"
}

start() {
  if serving "$directory"; then
    [[ -z $wanted_port || $(cat "$directory/address") == "127.0.0.1:$wanted_port" ]] ||
      die "one runs already, at $(cat "$directory/address"): stop it, or name another folder with --dir"
    cat "$directory/address"
    return
  fi
  if [[ -n $wanted_port ]] && listening "127.0.0.1:$wanted_port"; then
    die "somebody listens on port $wanted_port already"
  fi
  provide_jars
  local ports
  for _ in 1 2 3 4 5; do
    end "$directory"
    remove_data
    mkdir -p -- "$directory"
    cp -r -- "$prepared/formatted" "$directory/data"
    read -ra ports < <(free_ports 2)
    write_configuration "$directory" "${wanted_port:-${ports[0]}}" "${ports[1]}"
    launch "$directory" "$prepared/java.options"
    if wait_until_serving "$directory"; then
      cat "$directory/address"
      return
    fi
    # If somebody took a port meanwhile, others will do.
    if [[ -n $wanted_port ]] || ! grep -q "Address already in use" "$directory"/*.log; then break; fi
  done
  tail -n 20 "$directory"/*.log >&2
  end "$directory"
  die "the broker does not start; everything it said is in $directory"
}

case $action in
  jars)
    provide_jars
    printf '%s\n' "$library"
    ;;
  start) start ;;
  status)
    serving "$directory" || { say "No broker serves in $directory"; exit 1; }
    cat "$directory/address"
    ;;
  stop)
    end "$directory"
    remove_data
    ;;
esac
