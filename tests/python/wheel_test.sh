#!/usr/bin/env bash
# Builds the wheel, installs it into a fresh environment and runs the documentation's Python there:
# wheel_test.sh PYTHON SOURCE LIBRARIES SERVER-HOST
#
# Of Debian's packages that environment uses cffi; nothing is fetched.
set -euo pipefail

python=$1 source_dir=$2 libraries=$3 server_host=$4
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

"$python" -B "$source_dir/bindings/python/build.py" --wheel "$libraries" "$work/package"
"$python" -m venv --system-site-packages --without-pip "$work/venv"
"$python" -m pip --python "$work/venv/bin/python" --disable-pip-version-check --quiet install --no-index --no-deps \
  "$work"/package/wheel/*.whl
cd "$work"  # not where the sources are
"$work/venv/bin/python" -B "$source_dir/tests/python/run_snippets.py" "$server_host" "$work/venv" \
  "$source_dir/README.md" "$source_dir/bindings/python/README.md"
