"""The bill of materials of packages: what scripts/sbom.py says of packages that are made for this."""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]


class SbomTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.client = self.folder / "client"
        (self.client / "source").mkdir(parents=True)
        for name in ("zookeeper_3.8.0.orig.tar.gz", "zookeeper_3.8.0-11.debian.tar.xz", "zookeeper_3.8.0-11.dsc"):
            (self.client / "source" / name).write_text(name, encoding="ascii")

    def deb(self, name, depends):
        tree = self.folder / name
        (tree / "DEBIAN").mkdir(parents=True)
        (tree / "DEBIAN/control").write_text(
            f"Package: {name}\nVersion: 0.1.0\nArchitecture: all\nMaintainer: nobody <nobody@example.invalid>\n"
            f"Depends: {depends}\nDescription: of a test\n", encoding="ascii")
        file = self.folder / f"{name}_0.1.0_all.deb"
        subprocess.run(["dpkg-deb", "--root-owner-group", "--build", tree, file], check=True, stdout=subprocess.DEVNULL)
        return file

    def sbom(self, *debs, expect=0):
        result = subprocess.run([sys.executable, SOURCE / "scripts/sbom.py", self.client, *debs], capture_output=True,
                                text=True, check=False, env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"})
        self.assertEqual(result.returncode, expect, result.stderr)
        return result.stdout if expect == 0 else result.stderr

    def test_what_packages_consist_of(self):
        debs = [self.deb("forelock", "libc6 (>= 2.36), not-here-at-all | libc6"),
                self.deb("libforelock-dlq0.1", "libforelock0.1 (= 0.1.0), libc6"), self.deb("libforelock0.1", "libc6")]
        text = self.sbom(*debs)
        self.assertEqual(text, self.sbom(*reversed(debs)))
        told = json.loads(text)
        self.assertEqual(told["creationInfo"]["created"], "2023-11-14T22:13:20Z")
        packages = {each["name"]: each for each in told["packages"]}
        self.assertEqual(len(packages), len(told["packages"]))
        self.assertEqual(len({each["SPDXID"] for each in told["packages"]}), len(packages))
        for deb in debs:
            self.assertEqual(packages[deb.name.split("_")[0]]["checksums"][0]["checksumValue"],
                             hashlib.sha256(deb.read_bytes()).hexdigest())
        here = subprocess.run(["dpkg-query", "-W", "-f=${Version}\n", "libc6"], check=True, stdout=subprocess.PIPE,
                              text=True).stdout
        self.assertEqual(packages["libc6"]["versionInfo"], here.split("\n", maxsplit=1)[0])
        self.assertEqual(packages["not-here-at-all"]["versionInfo"], "NOASSERTION")
        names = {each["SPDXID"]: each["name"] for each in told["packages"]}
        names["SPDXRef-DOCUMENT"] = "document"
        relations = {(names[each["spdxElementId"]], each["relationshipType"], names[each["relatedSpdxElement"]])
                     for each in told["relationships"]}
        self.assertEqual({each for each in relations if each[1] in ("STATIC_LINK", "DESCRIBES", "DEPENDS_ON")}, {
            ("document", "DESCRIBES", "forelock"), ("document", "DESCRIBES", "libforelock0.1"),
            ("document", "DESCRIBES", "libforelock-dlq0.1"),
            ("forelock", "STATIC_LINK", "zookeeper-client-c"), ("libforelock0.1", "STATIC_LINK", "zookeeper-client-c"),
            ("forelock", "DEPENDS_ON", "libc6"), ("forelock", "DEPENDS_ON", "not-here-at-all"),
            ("libforelock0.1", "DEPENDS_ON", "libc6"), ("libforelock-dlq0.1", "DEPENDS_ON", "libc6"),
            ("libforelock-dlq0.1", "DEPENDS_ON", "libforelock0.1")})
        for patch in (SOURCE / "third_party/zookeeper").glob("*.patch"):
            self.assertIn((patch.name, "PATCH_FOR", "zookeeper-client-c"), relations)
        self.assertIn(("zookeeper_3.8.0.orig.tar.gz", "GENERATES", "zookeeper-client-c"), relations)
        self.assertIn(("libzookeeper-mt-dev", "BUILD_DEPENDENCY_OF", "forelock"), relations)

    def test_what_is_for_other_systems_has_all_inside(self):
        wheel = self.folder / "forelock-0.1.0-py3-none-any.whl"
        wheel.write_text("a wheel", encoding="ascii")
        told = json.loads(self.sbom(wheel, self.deb("forelock", "libc6")))
        packages = {each["SPDXID"]: each for each in told["packages"]}
        own = next(each for each in packages.values() if each["name"] == wheel.name)
        self.assertEqual(own["checksums"][0]["checksumValue"], hashlib.sha256(b"a wheel").hexdigest())
        self.assertEqual(own["versionInfo"], "0.1.0")
        inside = {packages[each["relatedSpdxElement"]]["name"] for each in told["relationships"]
                  if each["spdxElementId"] == own["SPDXID"] and each["relationshipType"] == "STATIC_LINK"}
        self.assertLessEqual({"zookeeper-client-c", "libssl-dev", "librdkafka-dev", "libsqlite3-dev"}, inside)
        self.assertNotIn("libzookeeper-mt-dev", inside)  # Debian's own client is not

    def test_without_the_sources_of_the_client_nothing_is_said(self):
        (self.client / "source/zookeeper_3.8.0.orig.tar.gz").unlink()
        self.assertIn("scripts/zookeeper_client.sh", self.sbom(self.deb("forelock", "libc6"), expect=1))


if __name__ == "__main__":
    unittest.main()
