#!/usr/bin/env bash
# What libraries that are given away need of a system is what the oldest ones have that they are said to run on, Red Hat
# Enterprise Linux 9 and Amazon Linux 2023: system_versions_test.sh LIBRARY...
set -euo pipefail

# Of each family of versions, the newest that is there.
declare -A newest=([GLIBC]=2.34 [GLIBCXX]=3.4.29 [CXXABI]=1.3.13 [GCC]=7.0.0)

[[ $# -gt 0 ]] || { echo "no library is given"; exit 1; }
failed=no
for library in "$@"; do
  listed=$(objdump -p "$library")
  wanted=$(awk '/^Version References:/ { on = 1; next } on && $4 != "" { print $4 }' <<<"$listed" | sort -Vu)
  [[ -n $wanted ]] || { echo "$library: no versions can be read"; exit 1; }
  for version in $wanted; do
    family=${version%_*}
    most=${newest[$family]:-}
    [[ -n $most ]] || continue  # of another library, such as LIBSSL_1: that one is looked for by its name
    if [[ $(printf '%s\n' "$most" "${version##*_}" | sort -V | tail -1) != "$most" ]]; then
      echo "$library needs $version, which is newer than ${family}_$most:"
      objdump -T "$library" | grep -F "($version)" || true
      failed=yes
    fi
  done
  if grep -q 'GLIBC_ABI' <<<"$wanted"; then
    echo "$library needs an ABI that older dynamic linkers do not have: $(grep GLIBC_ABI <<<"$wanted")"
    failed=yes
  fi
done
[[ $failed == no ]]
