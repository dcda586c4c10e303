"""Writes what packages of Forelock consist of, as SPDX 2.3 in JSON: sbom.py CLIENT FILE… >FILE

CLIENT is the folder in which scripts/zookeeper_client.sh has made ZooKeeper's client. The document has each package
with its checksum, what it needs when it is installed (Depends), what is compiled into it and is in no other package
(ZooKeeper's client, with our patches), and Debian's packages that it was built with, in the versions that this machine
has. A FILE that is no Debian package is a jar, a wheel, a tarball or a plugin, with all inside that notices.py lists.
SOURCE_DATE_EPOCH is the time that it tells. Two calls with the same packages write the same bytes.
"""

import datetime
import functools
import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import notices

ROOT = Path(__file__).resolve().parent.parent
# ZooKeeper's client is in the files of these; the others link one of them, or are no programs.
WITH_CLIENT = re.compile(r"(forelock|libforelock[\d.]+)$")


def said_by(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def sha256(file):
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()


def package(name, version, sum_of=None, **more):
    return {"SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name), "name": name, "versionInfo": version,
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "copyrightText": "NOASSERTION",
            "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION",
            **({"checksums": [{"algorithm": "SHA256", "checksumValue": sha256(sum_of)}]} if sum_of else {}), **more}


def names_in(dependencies):
    """The names in a field like Depends; of alternatives the first."""
    return [re.split(r"[\s|(:\[]", each.strip())[0] for each in dependencies.split(",") if each.strip()]


@functools.cache
def debian(name):
    """One of Debian's packages as it is here; None for one that is not, or is of another kind."""
    asked = subprocess.run(["dpkg-query", "-W", "-f=${Version}\n", name], stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, text=True, check=False)
    version = asked.stdout.split("\n")[0]
    if asked.returncode != 0 or not version:
        return None
    locator = f"pkg:deb/debian/{name}@{version}?distro=bookworm".replace("+", "%2B")
    return package(name, version, externalRefs=[
        {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": locator}])


def archives_of(client):
    archives = sorted((client / "source").glob("zookeeper_*.[a-z]*.tar.[gx]z"))
    if len(archives) != 2:
        sys.exit(f"{client}/source does not have the two archives of ZooKeeper's source: scripts/zookeeper_client.sh")
    return archives


def build_dependencies():
    control = (ROOT / "debian/control").read_text(encoding="utf-8")
    return names_in(re.search(r"^Build-Depends:((?:\n? .*)+)", control, re.MULTILINE).group(1))


def document(client, files):
    packages, relations = {}, []

    def relate(from_name, kind, to_name):
        relations.append({"spdxElementId": from_name, "relationshipType": kind, "relatedSpdxElement": to_name})

    def known(entry):
        return packages.setdefault(entry["name"], entry)["SPDXID"]

    archives = archives_of(client)
    patches = sorted((ROOT / "third_party/zookeeper").glob("*.patch"))
    version = re.search(r"_(.*)\.debian\.", archives[0].name).group(1)
    sources = [package(file.name, version, file, primaryPackagePurpose="SOURCE") for file in archives + patches]

    of_client = package("zookeeper-client-c", version, licenseDeclared="Apache-2.0",
                        sourceInfo="Debian's source package zookeeper with the patches of Forelock")
    for_aarch64 = notices.versions_for_aarch64()
    for file in sorted(each for each in files if each.suffix != ".deb"):
        own = package(file.name, re.search(r"-(\d+\.\d+\.\d+)", file.name).group(1), file, packageFileName=file.name,
                      licenseDeclared="Apache-2.0", primaryPackagePurpose="LIBRARY")
        packages[file.name] = own
        relate("SPDXRef-DOCUMENT", "DESCRIBES", own["SPDXID"])
        relate(own["SPDXID"], "STATIC_LINK", known(of_client))
        for name in notices.LINKED.values():
            linked = debian(name)
            if linked is None or name == "libzookeeper-mt-dev":
                continue
            # A jar and a plugin have libraries for both.
            if "aarch64" not in file.name:
                relate(own["SPDXID"], "STATIC_LINK", known(linked))
            if name in for_aarch64 and "x86_64" not in file.name:
                relate(own["SPDXID"], "STATIC_LINK", known(package(f"{name}:arm64", for_aarch64[name])))
    for deb in sorted(each for each in files if each.suffix == ".deb"):
        name, its_version, depends = (said_by("dpkg-deb", "-f", str(deb), field).strip()
                                      for field in ("Package", "Version", "Depends"))
        own = package(name, its_version, deb, packageFileName=deb.name, licenseDeclared="Apache-2.0",
                      primaryPackagePurpose="INSTALL")
        # Of one that was needed by an earlier package only the name was known.
        packages[name] = own
        relate("SPDXRef-DOCUMENT", "DESCRIBES", own["SPDXID"])
        for needed in names_in(depends):
            relate(own["SPDXID"], "DEPENDS_ON", known(debian(needed) or package(needed, "NOASSERTION")))
        if WITH_CLIENT.fullmatch(name):
            relate(own["SPDXID"], "STATIC_LINK", known(of_client))
        for needed in build_dependencies():
            tool = debian(needed)
            if tool is not None:
                relate(known(tool), "BUILD_DEPENDENCY_OF", own["SPDXID"])
    for source in sources:
        relate(known(source), "PATCH_FOR" if source["name"].endswith(".patch") else "GENERATES",
               "SPDXRef-zookeeper-client-c")

    time = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    contents = sorted(packages.values(), key=lambda each: each["name"])
    told = hashlib.sha256(json.dumps([contents, relations], sort_keys=True).encode()).hexdigest()
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
            "name": "forelock-packages", "documentNamespace": f"https://forelock.invalid/spdx/{told}",
            "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: scripts/sbom.py"]},
            "packages": contents, "relationships": relations}


def main():
    if len(sys.argv) < 3 or sys.argv[1].startswith("-"):
        print(__doc__)
        return 0 if sys.argv[1:2] in (["--help"], ["-h"]) else 64
    json.dump(document(Path(sys.argv[1]), [Path(each) for each in sys.argv[2:]]), sys.stdout, indent=1, sort_keys=True)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
