#!/usr/bin/env bash
# Installs the build into a folder of its own and uses it as a stranger would: package_test.sh SOURCE BUILD CXX CC
set -euo pipefail

source_dir=$1 build_dir=$2 cxx=$3 cc=$4
here=$source_dir/tests/package
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
prefix=$work/first

step() { printf '== %s\n' "$*"; }
fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }

step "install"
cmake --install "$build_dir" --prefix "$prefix" >"$work/install.log" || { cat "$work/install.log"; exit 1; }
library=$(find "$prefix" -name 'libforelock.so' -print -quit)
[[ -n $library ]] || fail "there is no libforelock.so"
libdir=$(dirname -- "$library")
queue_library=$libdir/libforelock-dlq.so
[[ -e $queue_library ]] || fail "there is no libforelock-dlq.so beside it"

step "an incomplete build installs nothing"
cmake -S "$source_dir" -B "$work/incomplete" -G Ninja -DCMAKE_CXX_COMPILER="$cxx" -DFORELOCK_BUILD_TESTS=OFF \
  -DFORELOCK_BUILD_EXAMPLES=OFF -DFORELOCK_BUILD_JAVA=OFF -DFORELOCK_BUILD_CLI=OFF -DBUILD_SHARED_LIBS=OFF \
  >"$work/configure.log" || { cat "$work/configure.log"; exit 1; }
if cmake --install "$work/incomplete" --prefix "$work/half" >"$work/half.log" 2>&1; then
  fail "a build without any library was installed"
fi
tr -s '\n ' ' ' <"$work/half.log" >"$work/half.line"
grep -q "cmake --build $work/incomplete" "$work/half.line" || fail "it is not said what to do: $(cat "$work/half.log")"
[[ ! -e $work/half ]] || fail "something was installed all the same"

step "a static library in a project of C, without what dead letters need"
# What is tested are the package's files: one function stands for the library.
cat >"$work/stub.cc" <<'END'
#include <string>
extern "C" const char* fl_version() {
  static const std::string text(99, '1');
  return text.c_str();
}
END
mkdir -p "$work/incomplete/lib" "$work/static_consumer"
"$cxx" -c "$work/stub.cc" -o "$work/stub.o"
for name in forelock forelock-dlq; do ar rcs "$work/incomplete/lib/lib$name.a" "$work/stub.o"; done
cmake --install "$work/incomplete" --prefix "$work/static" >"$work/static.log" || { cat "$work/static.log"; exit 1; }
cat >"$work/static_consumer/main.c" <<'END'
#include <forelock/c.h>
int main(void) { return fl_version()[0] == '1' ? 0 : 1; }
END
cat >"$work/static_consumer/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(static_consumer LANGUAGES C)
find_package(forelock 0.1 REQUIRED)
add_executable(static_consumer main.c)
target_link_libraries(static_consumer PRIVATE forelock::forelock)
END
cmake -S "$work/static_consumer" -B "$work/static_build" -G Ninja -DCMAKE_C_COMPILER="$cc" \
  -DCMAKE_PREFIX_PATH="$work/static" -DCMAKE_DISABLE_FIND_PACKAGE_RdKafka=ON -DCMAKE_DISABLE_FIND_PACKAGE_SQLite3=ON \
  >"$work/configure.log" || { cat "$work/configure.log"; exit 1; }
cmake --build "$work/static_build"
"$work/static_build/static_consumer"
read -ra flags <<<"$(PKG_CONFIG_PATH=$(dirname "$(find "$work/static" -name forelock.pc)") \
  pkg-config --static --cflags --libs forelock)"
"$cc" "$work/static_consumer/main.c" -o "$work/static_plain" "${flags[@]}"
"$work/static_plain"

step "what is installed"
(cd "$source_dir/include" && find forelock -name '*.h' | sort) >"$work/expected"
(cd "$prefix/include" && find . -type f | sed 's|^\./||' | sort) >"$work/found"
diff -u "$work/expected" "$work/found" || fail "the installed headers are not the public headers"
for file in bin/forelock share/man/man1/forelock.1 share/bash-completion/completions/forelock \
  share/zsh/site-functions/_forelock share/fish/vendor_completions.d/forelock.fish \
  share/forelock/prometheus-alerts.yaml share/forelock/grafana-dashboard.json; do
  [[ -s $prefix/$file ]] || fail "$file is missing or empty"
done
users=$(systemd-sysusers --dry-run "$prefix/lib/sysusers.d/forelock.conf" 2>&1) || fail "$users"
for name in forelock-forward forelock-forward@ forelock-serve; do
  unit=$prefix/lib/systemd/system/$name.service
  systemd-analyze verify --man=no "$unit" 2>"$work/unit" || { cat "$work/unit"; fail "$name cannot be used"; }
  systemd-analyze security --offline=true --threshold=30 "$unit" >"$work/unit" ||
    { tail -n 1 "$work/unit"; fail "$name is exposed by more than 3.0"; }
  user=$(sed -n 's/^User=//p' "$unit")
  [[ $user == %i ]] || grep -q "^u $user " "$prefix/lib/sysusers.d/forelock.conf" ||
    fail "nothing makes the user of $name"
done
bash -n "$prefix/share/bash-completion/completions/forelock"
[[ ! -e $prefix/bin/interactive_and_bulk ]] || fail "the examples are not for installing"

step "the files of debian/ agree with it"
/usr/bin/python3 -B "$here/debian_test.py" "$source_dir" "$prefix" || fail "the Debian packages would not be whole"

step "what the shared libraries export"
exports_of() {
  nm -D --defined-only --demangle "$1" | cut -d' ' -f3- >"$work/exports"
  if grep -vE '^((typeinfo|typeinfo name|vtable) for )?forelock::|^fl_[a-z_]+$' "$work/exports"; then
    fail "these exported symbols of ${1##*/} are not forelock's"
  fi
  if grep -E "^([a-z ]+ for )?forelock::($2)::" "$work/exports"; then
    fail "these exported symbols of ${1##*/} belong to the inside"
  fi
}
exports_of "$library" 'capi|client|config|coordination|lock|records|retry|zookeeper'
grep -q '^forelock::BlockingWriteLock::lock_with_timeout()$' "$work/exports" || fail "lock_with_timeout() is missing"
cp "$work/exports" "$work/lock-exports"
exports_of "$queue_library" 'capi|config|forward|kafka|letter|outbox|records'
if nm -D --defined-only "$library" | grep -E ' (zoo|SSL_)'; then fail "ZooKeeper's client or OpenSSL can be seen"; fi
grep -q '^forelock::DeadLetterQueue::accept(' "$work/exports" || fail "DeadLetterQueue::accept() is missing"
if comm -12 <(sort -u "$work/lock-exports") <(sort -u "$work/exports") | grep .; then
  fail "both libraries export these"
fi
# Exceptions are caught by their type, so there must be one of each.
nm -D --undefined-only --demangle "$queue_library" >"$work/imports"
grep -q ' typeinfo for forelock::Error$' "$work/imports" || fail "the dead-letter queue has exception types of its own"

step "what the shared libraries need"
needs() {
  objdump -p "$1" | awk '$1 == "NEEDED" { print $2 }' |
    grep -vE "^($2|libstdc\+\+|libgcc_s|libc|libm|ld-linux.*)\.so" || true
}
needed=$(needs "$library" 'libzookeeper_mt|libssl|libcrypto|libyaml-cpp')
[[ -z $needed ]] || fail "the lock needs more than ZooKeeper's client, OpenSSL and the YAML reader: $needed"
needed=$(needs "$queue_library" 'libforelock|librdkafka|libsqlite3')
[[ -z $needed ]] || fail "the queue needs more than the lock, Kafka's client and SQLite: $needed"

step "each public header alone"
for header in "$prefix"/include/forelock/*.h; do
  name=${header##*/}
  printf '#include <forelock/%s>\n' "$name" >"$work/alone.cc"
  "$cxx" -std=c++20 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$prefix/include" "$work/alone.cc" ||
    fail "$name does not compile alone"
  "$cxx" -std=c++20 -M -I"$prefix/include" "$work/alone.cc" >"$work/alone.d"
  [[ $name != spdlog_sink.h && $name != prometheus.h ]] || continue  # for those who have what they adapt to
  if grep -E 'zookeeper[./]|rdkafka|spdlog|/fmt/|yaml-cpp|nlohmann|boost/|sqlite' "$work/alone.d"; then
    fail "$name brings in a library that users do not have"
  fi
done

step "an older standard"
printf '#include <forelock/forelock.h>\n' >"$work/older.cc"
if "$cxx" -std=c++17 -fsyntax-only -I"$prefix/include" "$work/older.cc" 2>"$work/older.log"; then
  fail "C++17 compiles the headers"
fi
[[ $(grep -c 'error:' "$work/older.log") == 1 ]] || { cat "$work/older.log"; fail "C++17 has more than one error"; }

# A program with the installed command's throw-away ZooKeeper, and an outbox of its own.
try_out() {
  "$prefix/bin/forelock" dev -- env "CONSUMER_OUTBOX=$work/outbox-${1##*/}/outbox.db" "$1"
}

step "a CMake project"
cmake -S "$here/consumer" -B "$work/consumer" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$cxx" \
  -DCMAKE_C_COMPILER="$cc" -DCMAKE_BUILD_TYPE=Release >"$work/configure.log" || { cat "$work/configure.log"; exit 1; }
cmake --build "$work/consumer"
try_out "$work/consumer/consumer"
try_out "$work/consumer/queue_consumer"
try_out "$work/consumer/c_consumer"

step "pkg-config, after the tree has been moved"
mv "$prefix" "$work/second"
prefix=$work/second libdir=$work/second${libdir#"$work/first"}
export PKG_CONFIG_PATH=$libdir/pkgconfig LD_LIBRARY_PATH=$libdir
for package in forelock forelock-dlq; do
  program=main.cc
  [[ $package == forelock ]] || program=queue.cc
  read -ra flags <<<"$(pkg-config --cflags --libs "$package")"
  "$cxx" -std=c++20 -Wall -Wextra -Werror "-DPACKAGE_VERSION=\"$(pkg-config --modversion "$package")\"" \
    "$here/consumer/$program" -o "$work/plain-$package" "${flags[@]}"
  try_out "$work/plain-$package"
done
read -ra flags <<<"$(pkg-config --cflags --libs forelock)"
"$cc" -std=c11 -Wall -Wextra -Wpedantic -Werror "-DPACKAGE_VERSION=\"$(pkg-config --modversion forelock)\"" \
  "$here/consumer/main.c" -o "$work/plain-c" "${flags[@]}"
try_out "$work/plain-c"

step "done"
