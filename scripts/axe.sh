#!/usr/bin/env bash
# What finds barriers in the live page for its tests: scripts/axe.sh
#
#   --help    this text
#
# axe-core is one file of JavaScript in an npm package. It is fetched once with npm, compared with its checksum, and
# unpacked to $FORELOCK_AXE (default: build/axe). Prints the file's name. Nothing of it is part of what is given away.

# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

[[ $# -eq 0 ]] || unknown_option "$1"

folder=$(absolute "${FORELOCK_AXE:-$root/build/axe}")
package=axe-core version=4.14.1
checksum=e6b0ce02b84d892e2e33e403485e7f3d6c29e2be6df65daf44d89ba564139745
script=$folder/package/axe.min.js

if ! is_of "$folder" "$checksum"; then
  needs npm sha256sum tar
  new=$folder.new
  rm -rf -- "$new"
  mkdir -p -- "$new"
  say "Fetching $package $version into $folder"
  archive=$new/$(cd -- "$new" && npm pack --silent "$package@$version") || die "npm could not fetch $package $version"
  printf '%s  %s\n' "$checksum" "$archive" | sha256sum --check --quiet - >&2 ||
    die "$archive is not the one that is known"
  tar -xzf "$archive" -C "$new" package/axe.min.js
  printf '%s\n' "$checksum" >"$new/checksum"
  rm -rf -- "$archive" "$folder"
  mv -- "$new" "$folder"
fi
printf '%s\n' "$script"
