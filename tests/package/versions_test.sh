#!/usr/bin/env bash
# What programs and libraries for older systems need is what the oldest ones have that they are said to run on, Debian
# 11 and Ubuntu 20.04: versions_test.sh FILE...
set -euo pipefail

# Of each family of versions, the newest that is there.
declare -A newest=([GLIBC]=2.31 [GLIBCXX]=3.4.28 [CXXABI]=1.3.12 [GCC]=7.0.0)
# What every Linux has; the wheel's libraries need one another, and the C++ runtime.
common='^(libc|libm|libpthread|libdl|librt|libresolv|ld-linux-[a-z0-9-]+|libstdc\+\+|libgcc_s|libforelock)\.so\.'

[[ $# -gt 0 ]] || { echo "no file is given"; exit 1; }
failed=no
for file in "$@"; do
  needed=$(readelf --dynamic "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
  if grep -vE "$common" <<<"$needed"; then
    echo "$file needs the above"
    failed=yes
  fi
  wanted=$(readelf --wide --version-info "$file" | sed -n 's/.*Name: \(\S*\).*/\1/p' | sort -Vu)
  [[ -n $wanted ]] || { echo "$file: no versions can be read"; exit 1; }
  for version in $wanted; do
    family=${version%_*}
    most=${newest[$family]:-}
    if [[ -z $most || $(printf '%s\n' "$most" "${version##*_}" | sort -V | tail -1) != "$most" ]]; then
      echo "$file needs $version, and has ${family}_$most"
      failed=yes
    fi
  done
done
[[ $failed == no ]]
