#!/usr/bin/env bash
# build.sh GO CACHE PROGRAM [test]: builds the checker here with that Go into PROGRAM, after its own tests if asked to.
# What Go fetches and keeps goes below CACHE, nothing into the home directory.
set -euo pipefail

go=$1 cache=$2 program=$3 and_test=${4:-}
cd -- "$(dirname -- "${BASH_SOURCE[0]}")"
mkdir -p "$cache"
export GOPATH=$cache/go GOCACHE=$cache/build GOTOOLCHAIN=local
export GOFLAGS="${GOFLAGS:-} -modcacherw -mod=readonly -buildvcs=false" # a cache that can be removed
if ! "$go" mod download; then
  echo "Go could not fetch the checker's one module, porcupine (go.mod). With a network, once, it stays in $cache;" \
    "without one, copy that folder from another build, or set GOPROXY to a proxy that is reached." >&2
  exit 1
fi
if [[ $and_test == test ]]; then
  "$go" vet .
  "$go" test .
fi
"$go" build -o "$program" .
