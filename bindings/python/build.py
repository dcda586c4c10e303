#!/usr/bin/env python3
"""Assembles the package from its sources, the C interface's headers and the built libraries.

    build.py LIBRARIES OUT             OUT/src/forelock is the package, ready to be imported
    build.py LIBRARIES OUT --wheel     and OUT/wheel/*.whl has it

LIBRARIES is the folder with libforelock.so. The package gets copies of it, of libforelock-dlq.so, and of what the first
needs beyond a minimal Debian; with - in its place none, and takes those of the system. Needs python3-cffi, for the
wheel python3-pip, python3-setuptools and python3-wheel. --notices FOLDER has the licenses of what is linked in, for the
wheel.
"""

import argparse
import importlib.util
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
HEADERS = ["c_result.h", "c.h", "c_inspector.h", "c_operation.h", "c_replay.h", "c_set.h"]
LIBRARIES = ["libforelock.so.0.1", "libforelock-dlq.so.0.1"]
# Every Debian has these. OpenSSL is the one that Python's own module ssl uses: a second one of the same name in the
# process would take its place, or not have what it needs.
COMMON = re.compile(r"^(libstdc\+\+|libgcc_s|libc|libm|libpthread|libdl|ld-linux.*|linux-vdso|libssl|libcrypto)\.so")

# By the numbers that ELF has for them, the architectures as Python calls them.
ARCHITECTURES = {62: "x86_64", 183: "aarch64"}
# The versions of libstdc++, with the oldest glibc that it comes with in a distribution.
RUNTIMES = [((3, 4, 25), (2, 28)), ((3, 4, 28), (2, 31)), ((3, 4, 29), (2, 34)), ((3, 4, 30), (2, 35))]


def declarations(folder):
    """The C interface as cffi reads it: without comments, directives, and the attributes of functions."""
    text = "\n".join((folder / name).read_text(encoding="utf-8") for name in HEADERS)
    version = re.search(r"^#define FL_ABI_VERSION \d+$", text, re.MULTILINE).group()
    text = re.sub(r"#ifdef __cplusplus\n.*?#endif\n", "", text, flags=re.DOTALL)
    text = re.sub(r"//.*|^#.*", "", text, flags=re.MULTILINE)
    return version + "\n" + text.replace("FORELOCK_EXPORT ", "")


def architecture(library):
    """Of which architecture it is, from its ELF header."""
    with open(library, "rb") as file:
        return ARCHITECTURES[int.from_bytes(file.read(20)[18:20], "little")]


def needed(library):
    """What the library needs beyond every Debian's own, as names and paths."""
    if architecture(library) != platform.machine():
        listed = subprocess.run(["readelf", "--dynamic", str(library)], capture_output=True, text=True,
                                check=True).stdout
        other = [name for name in re.findall(r"\(NEEDED\).*\[(.*)\]", listed) if not COMMON.match(name)]
        if other:
            sys.exit(f"build.py: {library} is for {architecture(library)}, and needs {', '.join(other)}, which are not "
                     "of this machine: link them in (scripts/older_system.sh --arm64)")
        return
    listed = subprocess.run(["ldd", str(library)], capture_output=True, text=True, check=True).stdout
    for name, path in re.findall(r"^\s*(\S+) => (\S+)", listed, re.MULTILINE):
        if not COMMON.match(name):
            yield name, Path(path)


def needed_versions(library):
    """The versions that the library asks for: of glibc, and of the C++ runtime, as tuples of numbers."""
    listed = subprocess.run(["readelf", "--version-info", str(library)], capture_output=True, text=True,
                            check=True).stdout
    for family, version in re.findall(r"Name: (GLIBC|GLIBCXX)_([0-9.]+) ", listed):
        yield family, tuple(map(int, version.split(".")))


def platform_tag(folder):
    """What a system must have for the libraries in the folder, in Python's words (PEP 600)."""
    glibc = (2, 17)
    for library in folder.iterdir():
        for family, version in needed_versions(library):
            if family == "GLIBCXX":
                # No system with an older glibc than that has the runtime.
                version = next((known for runtime, known in RUNTIMES if version <= runtime), (2, 36))
            glibc = max(glibc, version)
    return f"manylinux_{glibc[0]}_{glibc[1]}_{architecture(library)}"


def assemble(libraries, out):
    shutil.rmtree(out, ignore_errors=True)
    package = out / "src" / "forelock"
    shutil.copytree(HERE / "src" / "forelock", package, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ["pyproject.toml", "README.md"]:
        shutil.copy(HERE / name, out)

    import cffi
    binding = cffi.FFI()
    binding.set_source("forelock._abi", None)
    binding.cdef(declarations(HERE.parents[1] / "include" / "forelock"))
    binding.emit_python_code(str(package / "_abi.py"))

    if libraries == Path("-"):
        return
    native = package / "native"
    native.mkdir()
    copied = {name: libraries / name for name in LIBRARIES}
    copied.update(needed(copied[LIBRARIES[0]]))
    of = architecture(copied[LIBRARIES[0]])
    strip = "strip" if of == platform.machine() else f"{of}-linux-gnu-strip"
    for name, path in copied.items():
        shutil.copy(path.resolve(), native / name)
        subprocess.run([strip, "--strip-unneeded", str(native / name)], check=True)
    project = out / "pyproject.toml"
    text = project.read_text(encoding="utf-8")
    project.write_text(text.replace('plat-name = "any"', f'plat-name = "{platform_tag(native)}"'), encoding="utf-8")


def build_wheel(out):
    subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet", "--no-deps",
                    "--no-build-isolation", "--no-index", "--wheel-dir", str(out / "wheel"), str(out)], check=True)


def require(names):
    """Ends with a line that names what is not there, before anything is done."""
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    if missing:
        sys.exit(f"build.py: {sys.executable} has no {', '.join(missing)}: install them for it, or use Debian's "
                 f"/usr/bin/python3 with apt-get install {' '.join('python3-' + name for name in missing)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("libraries", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--wheel", action="store_true")
    parser.add_argument("--notices", type=Path)
    arguments = parser.parse_args()
    require(["cffi", "pip", "setuptools", "wheel"] if arguments.wheel else ["cffi"])
    assemble(arguments.libraries, arguments.out)
    if arguments.notices:
        shutil.copytree(arguments.notices, arguments.out, dirs_exist_ok=True)
    if arguments.wheel:
        build_wheel(arguments.out)


if __name__ == "__main__":
    main()
