#!/usr/bin/env bash
# Installs the build into a folder of its own and uses it as a stranger would: package_test.sh SOURCE BUILD CXX
set -euo pipefail

source_dir=$1 build_dir=$2 cxx=$3
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

step "what is installed"
(cd "$source_dir/include" && find forelock -name '*.h' | sort) >"$work/expected"
(cd "$prefix/include" && find . -type f | sed 's|^\./||' | sort) >"$work/found"
diff -u "$work/expected" "$work/found" || fail "the installed headers are not the public headers"
for file in bin/forelock share/man/man1/forelock.1 share/bash-completion/completions/forelock \
  share/zsh/site-functions/_forelock share/fish/vendor_completions.d/forelock.fish; do
  [[ -s $prefix/$file ]] || fail "$file is missing or empty"
done
bash -n "$prefix/share/bash-completion/completions/forelock"
[[ ! -e $prefix/bin/forelock-demo ]] || fail "the demonstration is not for installing"

step "what the shared library exports"
nm -D --defined-only --demangle "$library" | cut -d' ' -f3- >"$work/exports"
grep -q '^forelock::BlockingWriteLock::lock_with_timeout()$' "$work/exports" || fail "lock_with_timeout() is missing"
if grep -vE '^((typeinfo|typeinfo name|vtable) for )?forelock::' "$work/exports"; then
  fail "these exported symbols are not forelock's"
fi
if grep -E '^([a-z ]+ for )?forelock::(client|config|coordination|lock|records|zookeeper)::' "$work/exports"; then
  fail "these exported symbols belong to the inside"
fi

step "what the shared library needs"
needed=$(objdump -p "$library" | awk '$1 == "NEEDED" { print $2 }' |
  grep -vE '^(libzookeeper_mt|libyaml-cpp|libstdc\+\+|libgcc_s|libc|libm|ld-linux.*)\.so' || true)
[[ -z $needed ]] || fail "it needs more than ZooKeeper's client and the YAML reader: $needed"

step "each public header alone"
for header in "$prefix"/include/forelock/*.h; do
  name=${header##*/}
  printf '#include <forelock/%s>\n' "$name" >"$work/alone.cc"
  "$cxx" -std=c++20 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$prefix/include" "$work/alone.cc" ||
    fail "$name does not compile alone"
  "$cxx" -std=c++20 -M -I"$prefix/include" "$work/alone.cc" >"$work/alone.d"
  if grep -E 'zookeeper[./]|rdkafka|spdlog|/fmt/|yaml-cpp|nlohmann|boost/|sqlite' "$work/alone.d"; then
    fail "$name brings in a library that users do not have"
  fi
done

step "a CMake project"
cmake -S "$here/consumer" -B "$work/consumer" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$cxx" \
  -DCMAKE_BUILD_TYPE=Release >"$work/configure.log" || { cat "$work/configure.log"; exit 1; }
cmake --build "$work/consumer"
"$prefix/bin/forelock" dev -- "$work/consumer/consumer"

step "pkg-config, after the tree has been moved"
mv "$prefix" "$work/second"
prefix=$work/second libdir=$work/second${libdir#"$work/first"}
export PKG_CONFIG_PATH=$libdir/pkgconfig
read -ra flags <<<"$(pkg-config --cflags --libs forelock)"
"$cxx" -std=c++20 -Wall -Wextra -Werror "-DPACKAGE_VERSION=\"$(pkg-config --modversion forelock)\"" \
  "$here/consumer/main.cc" -o "$work/plain" "${flags[@]}"
LD_LIBRARY_PATH=$libdir "$prefix/bin/forelock" dev -- "$work/plain"

step "done"
