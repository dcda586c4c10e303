"""The parts of the evidence run, and when each was last seen to pass. scripts/evidence.sh has the help text."""

import argparse
import datetime
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RECORD = Path("docs/evidence.json")
PAGE = Path("docs/evidence.md")
BEGIN, END = "<!-- from evidence.json -->\n", "<!-- end -->\n"
LOGS = Path("build/logs")

PROTOCOL = ["src/base", "src/core"]
CLIENT = [*PROTOCOL, "include", "src/client", "src/config", "src/records", "src/zookeeper"]
C_LIBRARIES = [*CLIENT, "dlq", "bindings/capi", "bindings/capi_dlq"]
COMMAND = [*CLIENT, "dlq", "command"]
SUPPORT = ["tests/support"]
SEARCH_LIST = "starts|cluster|extension|linger|security|secure|updates|rolling"  # of tests/opensearch/CMakeLists.txt


def json_line(output):
    """The counts of a program whose last line is JSON."""
    lines = [line for line in output.splitlines() if line.startswith("{")]
    return json.loads(lines[-1]) if lines else {}


def ctest_counts(output):
    """How many tests CTest has run."""
    ran = re.findall(r"tests passed, (\d+) tests failed out of (\d+)", output)
    return {"tests": sum(int(total) for _, total in ran)}


def ctest(*names):
    return ["ctest", "--preset", "ci", "--no-tests=error", "--parallel", "2", "-R", f"^({'|'.join(names)})$"]


BUILD = ["bash", "-c", "source scripts/lib.sh; build ci"]
PARTS = {
    # name: (what it is, folders that it covers, commands, how its counts are read)
    "simulation": ("300,000 simulated schedules", [*PROTOCOL, "tests/simulation"],
                   [["scripts/simulate.sh", "--schedules", "300000"]], json_line),
    "robustness": ("two runs of 100 s with faults on real ensembles", [*CLIENT, *SUPPORT, "tests/robustness"],
                   [["scripts/robustness.sh", "--quick"]], json_line),
    "robustness-tls": ("the same over mutual TLS and with SASL, with TLS among the servers",
                       [*CLIENT, *SUPPORT, "tests/robustness", "third_party"],
                       [["scripts/robustness.sh", "--quick", "--tls", "--sasl"]], json_line),
    "robustness-full": ("eight runs of 210 s with faults on real ensembles", [*CLIENT, *SUPPORT, "tests/robustness"],
                        [["scripts/robustness.sh", "--full"]], json_line),
    "crash": ("processes that are killed, and what is large",
              [*C_LIBRARIES, *SUPPORT, "tests/integration", "tests/capi"],
              [BUILD, ctest("integration_process", "integration_dead_letters_crash", "integration_drain_kill",
                            "integration_drain_scale", "integration_capi_misuse")], ctest_counts),
    "command": ("the command beside servers that stall or lie", [*COMMAND, *SUPPORT, "tests/integration/cli"],
                [BUILD, ctest("cli_stall", "cli_hostile", "cli_descendants", "cli_dlq_drill", "cli_serve_stop",
                               "cli_unlocker_steps", "cli_cut_off")],
                ctest_counts),
    "browser": ("the page of `serve` in Chromium", [*COMMAND, "tests/integration/cli"],
                [["scripts/setup.sh", "--browser"], BUILD, ctest("cli_browser", "cli_browser_views")], ctest_counts),
    "traces": ("spans, as the OpenTelemetry collector reads them", [*COMMAND, "tests/otlp", "tests/integration/cli"],
               [BUILD, ctest("otlp_collector")], ctest_counts),
    "kerberos": ("SASL's GSSAPI with a KDC", [*COMMAND, "tests/integration/cli"],
                 [["scripts/setup.sh", "--kerberos"], BUILD, ctest("cli_kerberos")], ctest_counts),
    "tls": ("servers with TLS among themselves; Kafka with mutual TLS and SCRAM",
            [*CLIENT, "dlq/kafka", *SUPPORT, "tests/integration", "third_party"],
            [BUILD, ctest("integration_tls_ensemble", "integration_kafka_tls")], ctest_counts),
    "java": ("the Java package on Java 11 and 25, and its jar", [*C_LIBRARIES, "bindings/java", "tests/java"],
             [BUILD, ctest("java_25", "java_11", "java_jar")], ctest_counts),
    "python": ("the wheel as it is installed", [*C_LIBRARIES, "bindings/python", "tests/python"],
               [BUILD, ctest("python_wheel")], ctest_counts),
    "opensearch": ("the whole list of behaviour on OpenSearch 2.19 and 3.3 (security: 3.4)",
                   [*C_LIBRARIES, "bindings/java", "search", "opensearch", "examples", "tests/opensearch"],
                   [BUILD, ctest("opensearch(_3)?", f"opensearch(_3)?_({SEARCH_LIST})")], ctest_counts),
    "elasticsearch": ("the whole list of behaviour on Elasticsearch 7.17, 8.19 and 9",
                      [*C_LIBRARIES, "bindings/java", "search", "opensearch", "elasticsearch", "examples",
                       "tests/opensearch"],
                      [BUILD, ctest("elasticsearch_(all|7|9)", f"elasticsearch(_7|_9)?_({SEARCH_LIST})")],
                      ctest_counts),
    "asan": ("real servers under AddressSanitizer and UBSan",
             [*C_LIBRARIES, *SUPPORT, "tests/integration", "tests/capi"],
             [["scripts/sanitize.sh", "asan"]], ctest_counts),
    "tsan": ("real servers under ThreadSanitizer", [*C_LIBRARIES, *SUPPORT, "tests/integration", "tests/capi"],
             [["scripts/sanitize.sh", "tsan"]], ctest_counts),
    "fuzz": ("every fuzz target but the command's for 10 s", [*C_LIBRARIES, "tests/fuzz"],
             [["scripts/fuzz.sh", "--seconds", "10", "--without", "cli_arguments"]],
             lambda output: {"targets": len(re.findall(r": passed in ", output))}),
    "reference": ("the API reference", ["include", "dlq", "docs/Doxyfile", "docs/mainpage.md"],
                  [BUILD, ctest("api_reference")], ctest_counts),
    "packages": ("all packages, made twice; Debian's in a fresh Debian 12, the others in a fresh Debian 11 and on an "
                 "emulated aarch64, with Maven and with pip; and the image",
                 [*C_LIBRARIES, "command", "bindings", "search", "opensearch", "elasticsearch", "CMakeLists.txt",
                  "cmake", "config", "debian", "tests/package", "scripts/package.sh", "scripts/artefacts.sh",
                  "scripts/older_system.sh", "scripts/older_sasl.c", "scripts/notices.py", "scripts/sbom.py",
                  "scripts/zookeeper_client.sh", "scripts/image_root.sh", "scripts/setup.sh", "Dockerfile",
                  ".dockerignore", "third_party"],
                 [["scripts/package.sh", "--twice"], ["tests/package/root_test.sh", "."],
                  ["tests/package/older_test.sh", "."], ["tests/package/index_test.sh", "."],
                  ["bash", "-c", "source scripts/lib.sh; build ci forelock_server_host"],
                  ["tests/package/arm64_test.sh", ".", "build/ci"],
                  ["tests/package/image_test.sh", "."], ["tests/package/image_test.sh", ".", "compiled"]],
                 lambda output: {"steps": len(re.findall(r"^== ", output, re.MULTILINE))}),
    "manifests": ("the manifests, against Kubernetes' own schemas",
                  ["config/kubernetes", "scripts/kubernetes_schemas.sh", "tests/compose"],
                  [["/usr/bin/python3", "-B", "tests/compose/schemas_test.py", "."]], lambda output: {}),
    "single-files": ("each source file compiled by itself",
                     [*COMMAND, "CMakeLists.txt", "CMakePresets.json", "bench", "bindings", "cmake",
                      "examples", "tests"],
                     [["bash", "-c", "source scripts/lib.sh; build dev all unit_tests"]], lambda output: {}),
    "load": ("tests against real servers, three times, beside a load on every processor",
             [*COMMAND, "bindings", "search", "opensearch", "elasticsearch", "tests", "scripts/test.sh"],
             [["scripts/test.sh", "--no-setup", "--real", "--load", "--repeat", "3"]], ctest_counts),
}


def git(*arguments):
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def contents(folders):
    """A digest of what is committed in these folders: the same for the same files, whatever commit has them."""
    listed = git("ls-tree", "HEAD", *sorted(folders))
    return hashlib.sha256(listed.encode()).hexdigest()[:16]


def uncommitted(folders):
    return git("status", "--porcelain", "--", *folders).splitlines()


def load():
    path = ROOT / RECORD
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def save(name, entry):
    """Read anew, since another part may have been recorded meanwhile."""
    record = load()
    record[name] = entry
    text = json.dumps({key: record[key] for key in PARTS if key in record}, indent=1)
    replace(RECORD, text + "\n")
    before, _, rest = (ROOT / PAGE).read_text(encoding="utf-8").partition(BEGIN)
    replace(PAGE, before + BEGIN + table(load()) + END + rest.partition(END)[2])


def replace(name, text):
    new = (ROOT / name).with_suffix(".new")
    new.write_text(text, encoding="utf-8")
    os.replace(new, ROOT / name)


def table(record):
    """The record as the page shows it."""
    lines = ["| part | what it is | last passed | counts |", "|---|---|---|---|"]
    for name, (what, _, _, _) in PARTS.items():
        entry = record.get(name)
        counts = entry["counts"] if entry else {}
        shown = [f"{key.replace('_', ' ')}: {value:,}" for key, value in counts.items() if isinstance(value, int)]
        last = f"{entry['at'][:10]}, {entry['commit']}, {entry['seconds']} s" if entry else "–"
        lines.append(f"| `{name}` | {what} | {last} | {'; '.join(shown[:8])} |")
    return "\n".join(lines) + "\n"


def changed(name, record):
    """What has changed for a part since it last passed: folders, or why it is not known; nothing if it is not due."""
    folders = PARTS[name][1]
    entry = record.get(name)
    if entry is None:
        return ["never recorded"]
    if entry["contents"] == contents(folders):
        return []
    known = subprocess.run(["git", "cat-file", "-e", entry["commit"]], cwd=ROOT, capture_output=True, check=False)
    if known.returncode != 0:
        return ["its commit is not known here"]
    return [folder for folder in folders if git("diff", "--name-only", entry["commit"], "HEAD", "--", folder)]


def run(command, log):
    output = []
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace") as process:
        for line in process.stdout:
            sys.stdout.write(line)
            log.write(line)
            output.append(line)
    return process.returncode, "".join(output)


def not_run(commands, output):
    """CTest passes over a test that is skipped, or was never made for want of a program."""
    wanted = [name for command in commands if command[0] == "ctest" for name in command[-1].strip("^()$").split("|")]
    return [name for name in wanted if not re.search(rf" {re.escape(name)} \.+ +Passed", output)]


def prove(name):
    """Runs one part; whether it has passed."""
    what, folders, commands, count = PARTS[name]
    print(f"\n== {name}: {what}", flush=True)
    before, dirty = contents(folders), uncommitted(folders)
    begun = time.monotonic()
    output = ""
    (ROOT / LOGS).mkdir(parents=True, exist_ok=True)
    with open(ROOT / LOGS / f"evidence-{name}.log", "w", encoding="utf-8") as log:
        for command in commands:
            status, said = run(command, log)
            output += said
            if status != 0:
                print(f"-- {name}: FAILED (exit {status}): {' '.join(command)}; see {log.name}", file=sys.stderr)
                return False
    seconds = round(time.monotonic() - begun)
    if dirty or before != contents(folders) or uncommitted(folders):
        print(f"-- {name}: passed in {seconds} s; not recorded: what it covers was not committed")
        return True
    if absent := not_run(commands, output):
        print(f"-- {name}: passed in {seconds} s; not recorded: on this machine without {', '.join(absent)}")
        return True
    now = datetime.datetime.now(datetime.timezone.utc)
    save(name, {"at": now.strftime("%Y-%m-%dT%H:%MZ"), "commit": git("rev-parse", "HEAD")[:12], "contents": before,
                "seconds": seconds, "counts": count(output)})
    print(f"-- {name}: passed in {seconds} s; recorded in {RECORD}")
    return True


def main():
    parser = argparse.ArgumentParser(prog="evidence.sh", add_help=False)
    for option in ("--all", "--due", "--list"):
        parser.add_argument(option, action="store_true")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("parts", nargs="*")
    options = parser.parse_args()
    for name in options.parts:
        if name not in PARTS:
            parser.error(f"there is no part '{name}'; there are: {', '.join(PARTS)}")
    record = load()
    due = {name: why for name in PARTS if (why := changed(name, record))}
    if options.list:
        for name, (what, folders, _, _) in PARTS.items():
            entry = record.get(name)
            last = f"{entry['at']}, {entry['commit']}, {entry['seconds']} s" if entry else "never"
            print(f"{name}: {what}\n  covers {' '.join(folders)}\n  last   {last}{', due' if name in due else ''}")
        return 0
    if options.due:
        for name, why in due.items():
            print(f"{name}: {', '.join(why)}")
        return 1 if due else 0
    chosen = options.parts or (list(PARTS) if options.all else list(due))
    if not chosen:
        print("Nothing is due.")
    for name in chosen:
        for _ in range(options.repeat):
            if not prove(name):
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
