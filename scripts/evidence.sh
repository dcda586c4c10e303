#!/usr/bin/env bash
# What proves the promises and takes too long for each change, in parts: scripts/evidence.sh [OPTION…] [PART…]
#
#   PART…       runs these; without one, every part that is due
#   --all       every part, due or not
#   --due       names the due parts and what has changed for each; exit 1 if there is one
#   --list      the parts, the folders that each covers, and their last runs
#   --repeat N  runs each chosen part N times
#   --help      this text
#
# A part is due when what it covers has changed since it last passed. A part that passes is written into
# docs/evidence.json, with its counts and the contents that it was run on, and no longer due: so a run that was cut off
# goes on where it was. With changes that are not committed a part runs, but is not recorded. The first part that fails
# ends the run with exit 1; its output is in build/logs/evidence-PART.log.

# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

needs git
exec /usr/bin/python3 -B scripts/evidence.py "$@"
