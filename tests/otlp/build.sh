#!/usr/bin/env bash
# build.sh GO CACHE PROGRAM: builds the decoder here with that Go into PROGRAM. What Go fetches and keeps goes below
# CACHE, nothing into the home directory.
set -euo pipefail

go=$1 cache=$2 program=$3
cd -- "$(dirname -- "${BASH_SOURCE[0]}")"
mkdir -p "$cache"
export GOPATH=$cache/go GOCACHE=$cache/build GOTOOLCHAIN=local
export GOFLAGS="${GOFLAGS:-} -modcacherw -mod=readonly -buildvcs=false" # a cache that can be removed
if ! "$go" mod download go.opentelemetry.io/collector/pdata; then
  echo "Go could not fetch the collector's decoder, pdata (go.mod). With a network, once, it stays in $cache;" \
    "without one, copy that folder from another build, or set GOPROXY to a proxy that is reached." >&2
  exit 1
fi
"$go" build -o "$program" .
