"""For who installs this folder: it is no package yet. build.py leaves this file out of the one that it makes."""

raise SystemExit(
    "\nerror: forelock cannot be installed from its sources as they are: the wheel contains the built library.\n"
    "Build that, make the wheel with build.py, and install the wheel (README.md, Building); in the repository's root:\n"
    "    cmake --preset release && cmake --build --preset release --target forelock forelock_dlq\n"
    "    python3 bindings/python/build.py --wheel build/release/lib build/release/python\n"
    "    pip install build/release/python/wheel/forelock-*.whl\n")
