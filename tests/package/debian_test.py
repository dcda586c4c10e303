"""The files of debian/ agree with what CMake installs: debian_test.py SOURCE PREFIX

PREFIX is where the build has been installed to. Every installed file goes into exactly one Debian package, every line
of debian/*.install finds a file, and the versions and the SONAME in the packages' names are those of the project.
"""

import fnmatch
import re
import sys
from pathlib import Path

# What debian/rules moves to where Debian wants it, or leaves out.
MOVED = (("usr/lib/systemd/", "lib/systemd/"), ("usr/share/zsh/site-functions/", "usr/share/zsh/vendor-completions/"))
LEFT_OUT = "usr/share/doc/"
# What debian/rules makes itself, for the languages; scripts/package.sh fails where it does not.
MADE = ("usr/share/java", "usr/lib/python3/", "usr/lib/*/jni/")


def installed(prefix):
    """The installed files by the names that they have in a Debian package."""
    for path in sorted(prefix.rglob("*")):
        if path.is_dir():
            continue
        name = f"usr/{path.relative_to(prefix)}"
        # Only below /usr does CMake use the machine's own folder.
        name = re.sub(r"^usr/lib/(?=libforelock|cmake/|pkgconfig/)", "usr/lib/machine/", name)
        for before, after in MOVED:
            name = name.replace(before, after)
        if not name.startswith(LEFT_OUT):
            yield name


def patterns(source):
    """(package, pattern) of each line, but those that take a file of the source."""
    for path in sorted((source / "debian").glob("*.install")):
        for line in path.read_text(encoding="utf-8").splitlines():
            words = line.split()
            if len(words) == 1:
                yield path.stem, words[0]
            elif not (source / words[0]).exists():
                yield path.stem, f"{words[0]}, which is not in the source"


def matches(name, pattern):
    return fnmatch.fnmatchcase(name, pattern) or fnmatch.fnmatchcase(name, f"{pattern}/*")


def problems(source, prefix):
    names, lines = list(installed(prefix)), list(patterns(source))
    for name in names:
        packages = [package for package, pattern in lines if matches(name, pattern)]
        if len(packages) != 1:
            yield f"{name} is in {' and in '.join(packages) or 'no package'}: see debian/*.install"
    for package, pattern in lines:
        if not pattern.startswith(MADE) and not any(matches(name, pattern) for name in names):
            yield f"debian/{package}.install: CMake does not install {pattern}"

    version = re.search(r"project\(forelock VERSION ([\d.]+)", (source / "CMakeLists.txt").read_text()).group(1)
    top = (source / "debian/changelog").read_text(encoding="utf-8").splitlines()[0]
    if not top.startswith(f"forelock ({version})"):
        yield f"debian/changelog begins with '{top}', and the project's version is {version}"
    declared = re.findall(r"^Package: (.*)$", (source / "debian/control").read_text(encoding="utf-8"), re.MULTILINE)
    for library in ("libforelock", "libforelock-dlq"):
        soname = f"{library}{'.'.join(version.split('.')[:2])}"
        if soname not in declared:
            yield f"debian/control: {library} has the SONAME {soname}, and there is no package of this name"
    without = {package for package, _ in lines} ^ set(declared)
    for package in sorted(without):
        yield f"{package} is only in one of debian/control and debian/*.install"


def main():
    found = list(problems(Path(sys.argv[1]), Path(sys.argv[2])))
    for problem in found:
        print(problem, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
