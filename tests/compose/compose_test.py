#!/usr/bin/env python3
"""Checks docker-compose.yml, Dockerfile and the manifests for Kubernetes without an engine: compose_test.py ROOT.

docker-compose must accept the file (exit 77, skipped, where it is not installed); what it understood must be pinned,
healthy before others use it, and reachable from this machine only. With $FORELOCK_BINARY, the configuration that the
containers get is checked too.
"""

import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(sys.argv.pop(1) if len(sys.argv) > 1 else ".").resolve()
SKIPPED = 77


def understood():
    """The services as docker-compose understands the file."""
    import yaml

    answer = subprocess.run(
        ["docker-compose", "--profile", "tls", "-f", str(ROOT / "docker-compose.yml"), "config"],
        capture_output=True,
        text=True,
        check=False,
    )
    if answer.returncode != 0:
        raise AssertionError(f"docker-compose refuses the file: {answer.stderr}")
    return yaml.safe_load(answer.stdout)["services"]


class ComposeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.services = understood()

    def test_has_the_servers(self):
        tls = {name for name, service in self.services.items() if service.get("profiles") == ["tls"]}
        self.assertEqual(tls, {"certificates", "zookeeper-tls", "serve-tls"})
        self.assertLessEqual({"zookeeper", "kafka", "forelock", "serve"}, set(self.services) - tls)

    def test_ports_are_open_to_this_machine_only(self):
        ports = [port for service in self.services.values() for port in service.get("ports", [])]
        self.assertGreaterEqual(len(ports), 2)
        for port in ports:
            self.assertTrue(str(port).startswith("127.0.0.1:"), port)

    def test_images_are_pinned(self):
        for name, service in self.services.items():
            self.assertRegex(service["image"], r":(\d+\.\d+\.\d+|local)$", name)
            self.assertEqual("build" in service, service["image"].endswith(":local"), name)

    def test_what_stays_up_has_a_health_check(self):
        for name, service in self.services.items():
            if service.get("restart") != "no":
                self.assertIn("test", service["healthcheck"], name)

    def test_nobody_starts_before_what_it_needs(self):
        for name, service in self.services.items():
            for needed, how in service.get("depends_on", {}).items():
                ends = self.services[needed].get("restart") == "no"
                expected = "service_completed_successfully" if ends else "service_healthy"
                self.assertEqual(how["condition"], expected, f"{name} needs {needed}")

    def test_what_must_last_is_in_a_volume(self):
        for name in ("zookeeper", "kafka", "forelock"):
            named = [volume for volume in self.services[name]["volumes"] if not str(volume).startswith("/")]
            self.assertTrue(named, name)

    def test_the_containers_configuration_is_valid(self):
        file = ROOT / "config/compose.properties"
        self.assertIn(f"{file}:", " ".join(self.services["forelock"]["volumes"]))
        self.assert_valid(file)

    def assert_valid(self, file):
        binary = os.environ.get("FORELOCK_BINARY")
        if not binary or not Path(binary).exists():
            self.skipTest("the command was not built")
        answer = subprocess.run([binary, "config", "check", file], capture_output=True, text=True, check=False)
        self.assertEqual(answer.returncode, 0, answer.stderr)

    def test_the_certificates_are_those_that_are_named(self):
        with tempfile.TemporaryDirectory() as folder:
            script = (ROOT / "config/compose-certificates.sh").read_text(encoding="utf-8")
            subprocess.run(["bash", "-c", re.sub(r"(?m)^chown", ": chown", script), "bash", folder], check=True,
                           capture_output=True)
            for name, host in (("server.pem", "zookeeper-tls"), ("client.pem", "localhost")):
                told = subprocess.run(["openssl", "verify", "-CAfile", f"{folder}/ca.pem", "-verify_hostname", host,
                                       f"{folder}/{name}"], capture_output=True, text=True, check=False)
                self.assertEqual(told.returncode, 0, told.stderr)
            self.assertEqual(Path(folder, "client.key").stat().st_mode & 0o777, 0o600)
            extra = self.services["zookeeper-tls"]["environment"]["ZOO_CFG_EXTRA"]
            command = " ".join(self.services["serve-tls"]["command"])
            file = ROOT / "config/compose-tls.properties"
            self.assertIn(f"{file}:", " ".join(self.services["serve-tls"]["volumes"]))
            settings = file.read_text(encoding="utf-8")
            for file in re.findall(r"/tls/(\S+)", f"{extra} {command} {settings}"):
                self.assertTrue(Path(folder, file).exists(), file)
            here = Path(folder, "here.properties")
            here.write_text(settings.replace("/tls/", f"{folder}/"), encoding="utf-8")
            self.assert_valid(here)

    def test_the_service_that_only_looks_finds_its_namespace(self):
        self.assertEqual(self.services["forelock"]["command"][0], "watch")
        file = ROOT / "config" / "compose.properties"
        self.assertRegex(file.read_text(encoding="utf-8"), r"(?m)^zookeeper\.servers=[^/\n]+$")


class KubernetesTest(unittest.TestCase):
    """config/kubernetes, as far as it goes without a cluster; schemas_test.py has the schemas."""

    @classmethod
    def setUpClass(cls):
        import yaml

        cls.objects = [one for file in sorted((ROOT / "config" / "kubernetes").glob("*.yaml"))
                       for one in yaml.safe_load_all(file.read_text(encoding="utf-8"))]
        cls.pods = [one["spec"]["template"]["spec"] for one in cls.objects if "template" in one.get("spec", {})]

    @staticmethod
    def containers(pod):
        return [*pod.get("initContainers", []), *pod["containers"]]

    def test_containers_have_the_least_rights_and_a_limit(self):
        self.assertEqual(len(self.pods), 3)
        for pod in self.pods:
            self.assertIs(pod["automountServiceAccountToken"], False)
            self.assertIs(pod["securityContext"]["runAsNonRoot"], True)
            self.assertEqual(pod["securityContext"]["runAsUser"], 10001)  # the Dockerfile's
            for container in self.containers(pod):
                rights = container["securityContext"]
                self.assertIs(rights["readOnlyRootFilesystem"], True)
                self.assertIs(rights["allowPrivilegeEscalation"], False)
                self.assertEqual(rights["capabilities"], {"drop": ["ALL"]})
                self.assertIn("memory", container["resources"]["limits"])

    def test_what_is_mounted_is_there(self):
        claims = {claim["metadata"]["name"] for one in self.objects
                  for claim in one.get("spec", {}).get("volumeClaimTemplates", [])}
        maps = {one["metadata"]["name"] for one in self.objects if one["kind"] == "ConfigMap"}
        for pod in self.pods:
            volumes = {volume["name"] for volume in pod["volumes"]}
            for container in self.containers(pod):
                self.assertLessEqual({mount["name"] for mount in container["volumeMounts"]}, volumes | claims)
            named = {volume["configMap"]["name"] for volume in pod["volumes"] if "configMap" in volume}
            self.assertLessEqual(named, maps)

    def test_the_command_knows_what_it_is_told(self):
        binary = os.environ.get("FORELOCK_BINARY")
        if not binary or not Path(binary).exists():
            self.skipTest("the command was not built")
        path = {**os.environ, "PATH": f"{Path(binary).resolve().parent}:{os.environ['PATH']}"}
        for container in (container for pod in self.pods for container in self.containers(pod)):
            if "command" in container:  # before the first run there is no session file
                with tempfile.TemporaryDirectory() as folder:
                    words = [word.replace("/run/forelock", folder) for word in container["command"]]
                    subprocess.run(words, env=path, check=True, capture_output=True)
                continue
            words = list(itertools.takewhile(lambda word: word != "--", container["args"]))
            command = list(itertools.takewhile(lambda word: not word.startswith("-"), words))
            told = "".join(subprocess.run([binary, *name, "--help"], capture_output=True, text=True, check=True).stdout
                           for name in ([], command))
            for option in (word for word in words if word.startswith("-")):
                self.assertRegex(told, rf"(?m)(^|[ ,]){option}[ ,]", (command, option))
        for one in self.objects:
            for name, text in one.get("data", {}).items():
                with tempfile.TemporaryDirectory() as folder:
                    file = Path(folder, name)
                    file.write_text(text, encoding="utf-8")
                    answer = subprocess.run([binary, "config", "check", file], capture_output=True, check=False)
                    self.assertEqual(answer.returncode, 0, answer.stderr)


class DockerfileTest(unittest.TestCase):
    def setUp(self):
        self.text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
        self.final = self.text.rsplit("\nFROM ", 1)[1]

    def test_has_two_stages(self):
        self.assertEqual(len(re.findall(r"^FROM ", self.text, re.MULTILINE)), 2)

    def test_does_not_run_as_root(self):
        users = re.findall(r"^USER (\S+)$", self.final, re.MULTILINE)
        self.assertEqual(len(users), 1)
        self.assertNotIn(users[0], ("root", "0"))

    def test_the_user_is_named_by_its_number(self):
        self.assertRegex(self.final, r"(?m)^USER 10001:10001$")
        self.assertIn("\nforelock:x:10001:10001:", (ROOT / "scripts/image_root.sh").read_text(encoding="utf-8"))

    def test_has_a_health_check(self):
        self.assertRegex(self.final, r"(?m)^HEALTHCHECK .*doctor")

    def test_copies_only_what_is_in_the_repository(self):
        for source in re.findall(r"^COPY (?!--from)(.+) \S+$", self.text, re.MULTILINE):
            for name in source.split():
                self.assertTrue((ROOT / name).exists(), name)


if __name__ == "__main__":
    if shutil.which("docker-compose") is None:
        print("docker-compose is not installed")
        sys.exit(SKIPPED)
    unittest.main()
