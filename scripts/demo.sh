#!/usr/bin/env bash
# Shows what Forelock is for, live: scripts/demo.sh [--no-setup] [--kafka | --opensearch] [OPTION...]
#
# Builds a release, starts a throw-away ZooKeeper on this machine, lets bulk work saturate a few articles while
# interactive saves come in, and compares their waits with those of one first-come-first-served queue under the same
# load. Then bulk operations run out of retries, become dead letters, and are put through. Ends with 0 if the articles
# themselves saw every rule kept, and the queue lost nothing and is empty.
#
#   --kafka       keeps the dead letters in a throw-away Kafka broker, instead of an outbox on this machine's disk
#   --opensearch  shows the plugin for OpenSearch instead: people save articles over HTTP while bulk jobs rewrite all of
#                 them, on a node without the plugin, and on one with it: not guarded, guarded, and with priorities
#   --no-setup    does not look for, or install, missing packages
#   --help        this text, and --seconds N, the length of each of the two phases

# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

demo=build/demo/bin/interactive_and_bulk
command=build/demo/bin/forelock

setup=yes kafka='' opensearch='' options=()
for argument in "$@"; do
  case $argument in
    --no-setup) setup=no ;;
    --kafka) kafka=yes ;;
    --opensearch) opensearch=yes ;;
    --help | -h)
      show_help
      exit 0
      ;;
    *) options+=("$argument") ;;
  esac
done

[[ $setup == no ]] || part "Packages" setup scripts/setup.sh
if [[ -n $opensearch ]]; then
  part "Build, preset demo" build-demo build demo forelock_cli forelock_jni forelock_jni_dlq
  printf '\n%s== OpenSearch%s\n' "$bold" "$plain"
  exec "$command" dev -- scripts/demo_opensearch.sh "${options[@]}"
fi
part "Build, preset demo" build-demo build demo forelock_cli interactive_and_bulk

printf '\n%s== Demonstration%s\n' "$bold" "$plain"
"$command" dev -- "$demo" --config config/elasticsearch-details.properties "${options[@]}"

if [[ -n $kafka ]]; then
  trap 'scripts/kafka.sh stop --dir build/kafka/demo' EXIT
  kafka=$(scripts/kafka.sh start --dir build/kafka/demo)
fi
printf '\n%s== What cannot be done now is not lost%s\n' "$bold" "$plain"
"$command" dev -- scripts/demo_dead_letters.sh "$command" ${kafka:+"$kafka"}

cat <<EOF

Try next:
  $command dev --serve          a live page at the address that it prints, with some processes to look at
  $command dev -- bash          a shell with a ZooKeeper of its own; in it:
  $command run -m P1 --info "Save Content" -- sleep 60 &
  $command show P1              who holds P1, since when, what for, and who waits
EOF
