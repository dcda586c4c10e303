#!/usr/bin/env bash
# The schemas of what Kubernetes takes: scripts/kubernetes_schemas.sh
#
#   --help    this text
#
# The Python package kubernetes-validate has them inside, for each version from 1.25 to 1.37 (23 MB): it is fetched
# once, compared with its checksum, and unpacked to build/kubernetes-VERSION. Prints the name of the folder. Needs pip
# and a network.

# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

[[ $# -eq 0 ]] || unknown_option "$1"

version=1.37.0
folder=$root/build/kubernetes-$version
provide_wheel "$folder" kubernetes-validate "$version" \
  85136d018a27b50ec7fc049d902bfa5193f5976807e6c0f408e3ab6fe078cad9
printf '%s\n' "$folder/kubernetes_validate/kubernetes-json-schema"
