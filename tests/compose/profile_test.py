"""
docker-compose.yml's profile tls without an engine: what its services would run, on this machine, with the files and the
environment that it gives them. profile_test.py, with tests/integration/cli in PYTHONPATH.
"""

import json
import os
import re
import ssl
import subprocess
import urllib.request
from pathlib import Path

import support
import yaml
from zookeepers import JAR, LOG, NETTY, free_ports

ROOT = Path(__file__).resolve().parents[2]


class ProfileTest(support.CliTest):
    makes_namespace = False

    def setUp(self):
        super().setUp()
        self.services = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))["services"]
        self.tls = self.path("tls")
        os.mkdir(self.tls)
        script = (ROOT / self.services["certificates"]["command"][0]).read_text(encoding="utf-8")
        subprocess.run(["bash", "-c", re.sub(r"(?m)^chown", ": chown", script), "bash", self.tls], check=True,
                       capture_output=True)
        self.ports = dict(zip(("2281", "9301"), map(str, free_ports(2, ["127.0.0.1"]))))

    def here(self, text):
        """As it is on this machine, where the network has no names of services and ports are shared."""
        text = text.replace("/tls/", self.tls + "/").replace("zookeeper-tls", "localhost")
        for port, own in self.ports.items():
            text = re.sub(rf"\b{port}\b", own, text)
        return text

    def start_zookeeper(self):
        """With what the image makes of its environment: each word of a variable is a line."""
        given = self.services["zookeeper-tls"]["environment"]
        self.assertEqual(set(given), {"ZOO_TICK_TIME", "ZOO_ADMINSERVER_ENABLED", "ZOO_SERVERS", "ZOO_CFG_EXTRA"})
        configuration = self.write("zoo.cfg", "\n".join([
            f"dataDir={self.path('data')}", f"dataLogDir={self.path('datalog')}", "standaloneEnabled=true",
            f"tickTime={given['ZOO_TICK_TIME']}", "initLimit=5", "syncLimit=2", "maxClientCnxns=60",
            f"admin.enableServer={given['ZOO_ADMINSERVER_ENABLED']}", *given["ZOO_SERVERS"].split(),
            *self.here(given["ZOO_CFG_EXTRA"]).split()]) + "\n")
        with open(self.path("zookeeper.log"), "wb") as log:
            self.children.append(subprocess.Popen(
                ["java", "-Xmx128m", "-XX:+UseSerialGC", "-cp", f"{JAR}:{LOG}:{NETTY}",
                 "org.apache.zookeeper.server.quorum.QuorumPeerMain", configuration],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log))

    def test_the_page_over_tls_of_servers_with_mutual_tls(self):
        self.start_zookeeper()
        settings = self.write("tls.properties", self.here(
            (ROOT / "config/compose-tls.properties").read_text(encoding="utf-8")))
        serve = self.services["serve-tls"]
        self.assertEqual(list(serve["environment"]), ["FORELOCK_CONFIG"])
        told, command, *words = serve["healthcheck"]["test"]
        self.assertEqual((told, command), ("CMD", "forelock"))

        def healthy():
            return self.run_cli(*words, server=False, FORELOCK_CONFIG=settings)

        support.wait_until(lambda: healthy().returncode == 0, "the servers speak TLS", 120)
        page = subprocess.Popen(
            self.command(*map(self.here, serve["command"]), server=False), stdin=subprocess.DEVNULL,
            env=support.clean_environment(FORELOCK_CONFIG=settings), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True)
        self.children.append(page)
        self.assertTrue(page.stdout.readline(), page.poll() is None or page.stderr.read())
        context = ssl.create_default_context(cafile=self.tls + "/ca.pem")
        self.assertEqual(serve["ports"], ["127.0.0.1:9301:9301"])
        with urllib.request.urlopen(f"https://127.0.0.1:{self.ports['9301']}/", context=context) as answer:
            self.assertEqual(answer.status, 200)
        result = self.run_cli("doctor", "-o", "json", server=False, FORELOCK_CONFIG=settings)
        checks = json.loads(result.stdout)["checks"]
        access = [(each["status"], each["message"]) for each in checks if each["check"] == "access"]
        self.assertEqual(len(access), 1, result.stdout)
        self.assertRegex(" ".join(access[0]), "^ok .*serves no client without a certificate")


if __name__ == "__main__":
    support.main()
