"""Making the wheel, and what pip makes of the source folder: nothing, and it says how the wheel is made."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import PATIENCE

SOURCE = Path(__file__).parents[2] / "bindings" / "python"


@pytest.mark.parametrize("command", [["install", "--target"], ["wheel", "--wheel-dir"]])
def test_the_source_folder_is_not_installed(tmp_path, command):
    copy, target = shutil.copytree(SOURCE, tmp_path / "python"), tmp_path / "target"
    ended = subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", *command, target, copy,
                            "--no-build-isolation", "--no-deps", "--no-index"], capture_output=True, text=True,
                           timeout=3 * PATIENCE, check=False)
    assert ended.returncode != 0
    assert "forelock cannot be installed from its sources as they are" in ended.stderr
    assert "python3 bindings/python/build.py --wheel build/release/lib build/release/python" in ended.stderr
    assert not list(target.glob("*"))


def test_what_is_missing_for_the_wheel_is_named(tmp_path):
    without_packages = [sys.executable, "-S", str(SOURCE / "build.py"), "--wheel", str(tmp_path), str(tmp_path / "out")]
    ended = subprocess.run(without_packages, capture_output=True, text=True, timeout=3 * PATIENCE, check=False)
    assert ended.returncode == 1
    assert len(ended.stderr.splitlines()) == 1 and "has no cffi, pip, setuptools, wheel" in ended.stderr
