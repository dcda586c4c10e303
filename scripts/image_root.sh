#!/usr/bin/env bash
# Fills a folder with what the command needs to run, for an image that has nothing else:
#   scripts/image_root.sh FOLDER COMMAND
#
# Debian's packages of the libraries that the command needs, with what these need, and no documentation; the
# certificates of public authorities; busybox, so that there is a shell; the user forelock (10001). The packages and
# their versions are in FOLDER/var/lib/dpkg/status.d, where scanners look for them; the licenses of all, and of what is
# inside the command, are in FOLDER/usr/share/doc. Uses apt-get, but installs nothing here.

# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

[[ $# -eq 2 ]] || { show_help >&2; exit 64; }
needs apt-get dpkg-deb openssl
folder=$(absolute "$1") command=$(absolute "$2")
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

packages=(
  libssl3 libyaml-cpp0.7 librdkafka1 libsqlite3-0 libspdlog1.10 libcurl4 libprometheus-cpp-core1.0 libstdc++6 libgcc-s1
  libsasl2-2 libsasl2-modules libsasl2-modules-gssapi-mit ca-certificates tzdata busybox-static
)
# As if nothing were installed here, so that everything that they need comes along.
mkdir -p "$work/archives/partial" "$folder"
: >"$work/status"
apt-get -q -o "Dir::State::status=$work/status" -o "Dir::Cache::archives=$work/archives" -o APT::Sandbox::User=root \
  --yes --no-install-recommends --download-only install "${packages[@]}"
mkdir -p "$folder/var/lib/dpkg/status.d"
for archive in "$work/archives"/*.deb; do
  dpkg-deb --extract "$archive" "$folder"
  dpkg-deb --field "$archive" >"$folder/var/lib/dpkg/status.d/$(dpkg-deb --field "$archive" Package)"
done
find "$folder/usr/share/doc" ! -type d ! -name copyright -delete
find "$folder/usr/share/doc" -type d -empty -delete
rm -rf -- "$folder"/usr/share/{man,info,locale,lintian,bug,debconf,perl5,initramfs-tools,gcc,gdb}

# The command has these inside (scripts/notices.py --debian).
mkdir "$work/inside"
(cd "$work/inside" &&
  apt-get -q -o APT::Sandbox::User=root download libzookeeper-mt-dev nlohmann-json3-dev libcli11-dev)
for archive in "$work/inside"/*.deb; do
  name=$(dpkg-deb --field "$archive" Package)
  dpkg-deb --fsys-tarfile "$archive" | tar --extract --directory "$folder" "./usr/share/doc/$name/copyright"
done
install -D -m 0644 LICENSE "$folder/usr/share/doc/forelock/copyright"

# The package does this when it is installed.
mkdir -p "$folder/etc/ssl/certs"
for authority in "$folder"/usr/share/ca-certificates/mozilla/*.crt; do
  name=${authority##*/}
  cp -- "$authority" "$folder/etc/ssl/certs/${name%.crt}.pem"
done
openssl rehash "$folder/etc/ssl/certs"
cat "$folder"/usr/share/ca-certificates/mozilla/*.crt >"$folder/etc/ssl/certs/ca-certificates.crt"
rm -rf -- "$folder/usr/share/ca-certificates"

for name in $("$folder/bin/busybox" --list); do
  [[ -e $folder/bin/$name || -e $folder/usr/bin/$name ]] || ln -s busybox "$folder/bin/$name"
done

cp -- /etc/os-release "$folder/etc/os-release"
echo 'hosts: files dns' >"$folder/etc/nsswitch.conf"
cat >"$folder/etc/passwd" <<'END'
root:x:0:0:root:/root:/bin/sh
forelock:x:10001:10001::/var/lib/forelock:/bin/sh
nobody:x:65534:65534:nobody:/nonexistent:/bin/false
END
cat >"$folder/etc/group" <<'END'
root:x:0:
forelock:x:10001:
nogroup:x:65534:
END
install -d "$folder"/{proc,sys,dev,run}
install -d -m 1777 "$folder/tmp" "$folder/var/tmp"
install -d -m 0700 "$folder/root"
# The outbox of dead letters is all that it keeps.
install -d -m 0750 -o 10001 -g 10001 "$folder/var/lib/forelock"
install -D -m 0755 "$command" "$folder/usr/local/bin/forelock"
