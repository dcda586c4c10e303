#!/usr/bin/env bash
# collector_test.sh GO CACHE PROGRAM COMMAND…: builds the decoder, and runs the command with it in
# FORELOCK_OTLP_DECODER. Without Go it says so and is skipped (exit 77).
set -euo pipefail

go=$1 cache=$2 program=$3
shift 3
if [[ ! -x $go ]]; then
  echo "SKIPPED: no Go compiler, so the collector's decoder does not judge the spans (scripts/setup.sh installs one)"
  exit 77
fi
"${BASH_SOURCE[0]%/*}/build.sh" "$go" "$cache" "$program"
FORELOCK_OTLP_DECODER=$program exec "$@"
