#!/usr/bin/env bash
# Builds the API reference in build/docs/html: scripts/docs.sh. A warning, such as for an undocumented function, fails.

# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

[[ $# -eq 0 ]] || unknown_option "$1"

mkdir -p build/docs
doxygen docs/Doxyfile
echo "The API reference is in build/docs/html/index.html."
