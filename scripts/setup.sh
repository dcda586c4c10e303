#!/usr/bin/env bash
# Installs what building, testing and the demonstration need, on Debian 12:
#   scripts/setup.sh [--build | --bench | --package | --browser | --kerberos] [--check]
#
#   --build   only what building the library and the command needs
#   --bench   also the other locks that the comparison measures
#   --package what building packages, and trying them, needs
#   --browser also the browser that scripts/evidence.sh drives
#   --kerberos also the KDC that scripts/evidence.sh starts
#   --check   installs nothing; lists what is missing and exits 1 if something is
#   --help    this text
#
# Uses apt-get, through sudo where it is not run as root. Ends at once when everything is there already. Starts no
# service, and stops those that its packages start.

# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

building=(
  # the library and the command
  g++ cmake ninja-build ccache pkg-config
  libzookeeper-mt-dev dpkg-dev patch libssl-dev libsasl2-dev libyaml-cpp-dev nlohmann-json3-dev libcli11-dev
  libspdlog-dev
  # the dead-letter queue
  librdkafka-dev libsqlite3-dev
  # writes of dead letters to OpenSearch
  libcurl4-openssl-dev
  # the live page and its metrics
  libboost-dev prometheus-cpp-dev
)
packages=(
  "${building[@]}"
  # a local ZooKeeper server, and Java as an oracle for .properties files (it compiles: the JRE alone will not do). The
  # package "zookeeper" would add nothing but scripts and a desktop's Java.
  libzookeeper-java openjdk-17-jdk-headless
  # a local Kafka broker, which comes from Maven, and an independent witness of what is in it
  maven kcat
  # tests, checks, documentation
  libgtest-dev libgmock-dev python3 python3-kazoo python3-jsonschema git zsh fish man-db libbenchmark-dev faketime
  openssl libsasl2-modules libsasl2-modules-gssapi-mit
  # the Python package, its wheel, its types
  python3-cffi python3-pytest python3-pip python3-venv python3-setuptools python3-wheel mypy python3-gevent
  python3-eventlet python3-prometheus-client
  valgrind mold
  clang-14 libclang-rt-14-dev clang-format-14 clang-tidy-14 shellcheck doxygen docker-compose
  # the alerts and the dashboard of config/
  prometheus
  # the independent judge of the robustness runs' histories; its one module comes from Go's proxy
  golang-go
)

# Debian packages, the checks of them, and a system to install them in.
packaging=(git debhelper fakeroot lintian blhc mmdebstrap maven
  # what is for aarch64: Debian 11 has the compiler; a processor that runs it
  binutils-aarch64-linux-gnu qemu-user-static
  # those for Python and Java
  dh-python python3 python3-cffi python3-pip python3-setuptools python3-wheel default-jdk-headless
)
# The image, without an engine.
imaging=(buildah)

peers=(etcd-server redis-server)
browser=(chromium chromium-driver python3-selenium python3-pil)
# It comes with other packages of Node.js than Debian's, too.
command -v npm >/dev/null || browser+=(npm)
kerberos=(krb5-kdc krb5-admin-server krb5-user)

check_only=no
for argument in "$@"; do
  case $argument in
    --build) packages=("${building[@]}") ;;
    --package) packages=("${building[@]}" "${packaging[@]}" "${imaging[@]}") ;;
    --bench) packages+=("${peers[@]}") ;;
    --browser) packages+=("${browser[@]}") ;;
    --kerberos) packages+=("${kerberos[@]}") ;;
    --check) check_only=yes ;;
    --help | -h) show_help; exit 0 ;;
    *) unknown_option "$argument" ;;
  esac
done

command -v dpkg-query >/dev/null ||
  die "this is not a Debian system; install the equivalents of: ${packages[*]}"

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $status == installed ]] || missing+=("$package")
done

if [[ ${#missing[@]} -eq 0 ]]; then
  echo "Everything needed is installed."
  exit 0
fi
echo "Missing: ${missing[*]}"
[[ $check_only == no ]] || exit 1

as_root=()
if [[ $(id -u) -ne 0 ]]; then
  command -v sudo >/dev/null || die "run as root, or install sudo: apt-get must install ${missing[*]}"
  as_root=(sudo)
fi

apt_get() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@"
}
apt_get update
apt_get install --yes --no-install-recommends "${missing[@]}"
if [[ -d /run/systemd/system ]]; then
  for service in etcd-server:etcd redis-server:redis-server prometheus:prometheus krb5-kdc:krb5-kdc \
    krb5-admin-server:krb5-admin-server; do
    [[ " ${missing[*]} " != *" ${service%:*} "* ]] || "${as_root[@]}" systemctl disable --now "${service#*:}"
  done
fi
echo "Everything needed is installed."
