#!/usr/bin/env bash
# The JNI libraries show the JVM their native methods, and nothing of what is linked into them:
# symbols_test.sh LIBRARY...
set -euo pipefail

for library in "$@"; do
  shown=$(nm -D --defined-only "$library" | awk '{ print $NF }')
  grep -qx 'JNI_OnLoad' <<<"$shown" || { echo "$library: no JNI_OnLoad"; exit 1; }
  if others=$(grep -vxE 'JNI_OnLoad|Java_org_forelock_Native_[A-Za-z0-9]+' <<<"$shown"); then
    printf '%s shows what is not JNI:\n%s\n' "$library" "$others"
    exit 1
  fi
done
