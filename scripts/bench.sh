#!/usr/bin/env bash
# Builds the release preset and measures: scripts/bench.sh [--quick] [--peers] [--publish] [NAME...]
#
#   NAME       compare, dlq or micro; all three without a name
#              compare: Forelock next to the bare C client in all workloads, one after the other in rounds
#              Or tls: what TLS to ZooKeeper costs, at both ports of one server; fails above 1.25 times at p50
#              Or serve: what the live page costs at 100,000 monitors, against `ls` once a second; some 6 minutes
#   --peers    compare: next to Curator, go-zookeeper, kazoo, etcd and Redis too; installs and builds what they need
#   --publish  compare: puts the results into docs/performance.md, with plots
#   --quick    fewer rounds, smaller jobs: a look, not a result, so not to be published
#   --help     this text
#
# compare with peers takes some ten minutes, besides what has to be built; with --quick two or three.
#
# Tables go to the terminal, results as JSON to build/bench/NAME.json; bench/README.md says how to read them.

# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

rounds=9 micro_time=0.5 compare_options=(--rounds 5) quick=no peers=no publish=no
names=()
for argument in "$@"; do
  case $argument in
    --quick) quick=yes rounds=3 micro_time=0.05 compare_options=(--rounds 1 --scale 0.1) ;;
    --peers) peers=yes ;;
    --publish) publish=yes ;;
    --help | -h) show_help; exit 0 ;;
    compare | dlq | micro | serve | tls) names+=("$argument") ;;
    *) unknown_option "$argument" ;;
  esac
done
[[ ${#names[@]} -gt 0 ]] || names=(compare dlq micro)
if [[ $publish == yes && " ${names[*]} " != *" compare "* ]]; then
  printf '%s: --publish is for the results of compare: add that name\n' "${0##*/}" >&2
  exit 64
fi
if [[ $publish == yes && $quick == yes ]]; then
  printf '%s: --quick gives no results that could be published: leave one of --quick and --publish out\n' "${0##*/}" >&2
  exit 64
fi

programs=$root/build/release/bench
results=$root/build/bench
built_peers=$root/build/peers
mkdir -p "$results"

targets_of() {
  case $1 in
    compare) printf '%s\n' bench_worker bench_servers bench_dlq bench_micro forelock_jni ;;
    tls) printf '%s\n' bench_worker bench_servers ;;
    serve) printf '%s\n' bench_serve_load forelock_cli ;;
    *) printf '%s\n' "bench_$1" ;;
  esac
}

# "part" does not end a function at the first command that fails, so those below are joined by "&&".

# Everything that the other locks need, into $built_peers.
build_peers() {
  (cd bench/peers/go && go build -o "$built_peers/go-worker" .) &&
    mvn -q -B -f bench/peers/curator/pom.xml package dependency:copy-dependencies \
      "-DoutputDirectory=$built_peers/curator" &&
    cp "$built_peers/curator-classes/curator-worker-1.jar" "$built_peers/curator/" &&
    mvn -q -B -f bindings/java/pom.xml package -Dmaven.test.skip=true -Dmaven.javadoc.skip=true \
      "-Dforelock.native=$root/build/release/java/native" "-Dforelock.target=$built_peers/java-classes" &&
    mkdir -p "$built_peers/java" && cp "$built_peers/java-classes/forelock-0.1.0.jar" "$built_peers/java/" &&
    javac -d "$built_peers/java" -cp "$built_peers/curator/*:$built_peers/java/*" bench/peers/java/ForelockWorker.java
}

measure() {
  local name=$1
  case $name in
    dlq) "$programs/bench_dlq" --rounds="$rounds" >"$results/$name.json" ;;
    micro)
      "$programs/bench_micro" --benchmark_min_time="$micro_time" --benchmark_out_format=json \
        --benchmark_out="$results/$name.json"
      ;;
    tls)
      /usr/bin/python3 bench/compare/compare.py --programs "$programs" --output "$results/tls.json" --groups tls \
        "${compare_options[@]}" &&
        /usr/bin/python3 -c 'import json, sys
measured = json.load(open(sys.argv[1]))["results"][0]["values"]["tls"]["to_plain"]
sys.exit(f"lock and unlock: {measured:.2f} times, 1.25 at most" if measured > 1.25 else 0)' "$results/tls.json"
      ;;
    serve)
      local sizes=()
      [[ $quick == no ]] || sizes=(--monitors 2000 --waiters 200 --streams 50 --rate 500 --seconds 3)
      /usr/bin/python3 bench/serve_cost.py --programs build/release --output "$results/serve.json" "${sizes[@]}"
      ;;
    compare)
      /usr/bin/python3 bench/compare/compare.py --programs "$programs" --output "$results/$name.json" \
        "${compare_options[@]}" &&
        printf '\n' &&
        /usr/bin/python3 bench/compare/report.py "$results/$name.json"
      ;;
  esac
}

# Until what ran before, a build as a rule, is in the load no more: the results say how busy the machine was before.
settle_down() {
  local load deadline=$((SECONDS + 300))
  read -r load _ </proc/loadavg
  while ((10#${load/./} > 50 && SECONDS < deadline)); do
    sleep 1
    read -r load _ </proc/loadavg
  done
}

publish_compare() {
  mkdir -p docs/performance &&
    cp "$results/compare.json" docs/performance/results.json &&
    /usr/bin/python3 bench/compare/report.py docs/performance/results.json --document docs/performance.md \
      --plots docs/performance
}

[[ $peers == no && $publish == no ]] || part "Packages" bench-setup scripts/setup.sh --bench
mapfile -t targets < <(for name in "${names[@]}"; do targets_of "$name"; done)
part "Build, preset release" bench-build build release "${targets[@]}"
if [[ " ${names[*]} " == *" dlq "* || " ${names[*]} " == *" compare "* ]]; then
  part "Kafka" bench-kafka scripts/kafka.sh jars
fi
if [[ $peers == yes ]]; then
  part "Build the peers" bench-peers build_peers
  compare_options+=(--peers "$built_peers")
fi
[[ $quick == yes ]] || settle_down
for name in "${names[@]}"; do
  part "Measure: $name" "bench-$name" measure "$name"
done
[[ $publish == no ]] || part "docs/performance.md" bench-publish publish_compare
printf '\nResults as JSON:\n'
ls -1 "$results"/*.json
