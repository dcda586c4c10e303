"""The command over mutual TLS: it works as it does without, and doctor says what is wrong."""

import json
import os
import subprocess

import support


class TlsTest(support.CliTest):
    makes_namespace = False

    @classmethod
    def setUpClass(cls):
        cls.host = subprocess.Popen([os.environ["FORELOCK_SERVER_HOST"], "tls"], stdin=subprocess.PIPE,
                                    stdout=subprocess.PIPE, text=True)
        cls.address, cls.authority, cls.certificate, cls.key = cls.host.stdout.readline().split()

    @classmethod
    def tearDownClass(cls):
        cls.host.communicate(timeout=support.PATIENCE)

    def settings(self, **more):
        values = {"zookeeper.servers": self.address, "zookeeper.tls.ca.file": self.authority,
                  "zookeeper.tls.certificate.file": self.certificate, "zookeeper.tls.key.file": self.key,
                  "zookeeper.foregound.task.timeout": "2000", "zookeeper.session.timeout": "2000"}
        values.update({key.replace("_", "."): value for key, value in more.items()})
        return self.write("tls.properties", "".join(f"{key}={value}\n" for key, value in values.items() if value))

    def run_tls(self, file, *arguments):
        return self.run_cli("--config", file, *arguments, server=False)

    def checks(self, file, expect):
        result = self.run_tls(file, "doctor", "-o", "json")
        self.assertEqual(result.returncode, expect, result.stdout + result.stderr)
        return {each["check"]: each for each in json.loads(result.stdout)["checks"]}

    def test_everything_works(self):
        file = self.settings()
        self.assertEqual(self.run_tls(file, "config", "check", file).returncode, 0)
        checks = self.checks(file, 0)
        self.assertEqual(checks["tls"]["message"], f"{self.address} shows a certificate that is its own")
        self.assertIn("standalone", checks["server"]["message"])
        self.assertEqual(checks["lock"]["status"], "ok")
        result = self.run_tls(file, "run", "-m", "P1", "--", "echo", "held")
        self.assertEqual((result.returncode, result.stdout), (0, "held\n"), result.stderr)

    def test_who_is_kept_out_is_said(self):
        result = self.run_tls(self.settings(), "doctor", "-o", "json")
        said = {each["message"]: each["status"] for each in json.loads(result.stdout)["checks"]
                if each["check"] == "access"}
        self.assertEqual(said.pop(f"{self.address} serves no client without a certificate"), "ok")
        ((message, status),) = said.items()  # that the test's server has one is what is wrong with it
        self.assertIn(f"{self.address}'s port without TLS, ", message)
        self.assertIn("serves every client that reaches it", message)
        self.assertEqual(status, "warn")

    def test_what_is_wrong_is_said(self):
        for more, said in (({"zookeeper_tls_server_names": "zk1.example"}, "not for zk1.example"),
                           ({"zookeeper_tls_certificate_file": "", "zookeeper_tls_key_file": ""}, "refuses this"),
                           ({"zookeeper_tls_min_version": "1.3"}, "speaks no TLS version"),
                           ({"zookeeper_servers": support.SERVER.replace("127.0.0.1", "localhost")}, "TLS port"),
                           ({"zookeeper_tls_ca_file": self.certificate}, "of no authority")):
            file = self.settings(**more)
            self.assertIn(said, self.checks(file, 69)["tls"]["message"])
            result = self.run_tls(file, "run", "-m", "P1", "--", "echo", "held")
            self.assertNotEqual(result.returncode, 0)
            self.assertIn(said, result.stderr)

    def test_a_plain_client_at_a_port_for_tls(self):
        file = self.settings(zookeeper_tls_ca_file="", zookeeper_tls_certificate_file="", zookeeper_tls_key_file="")
        self.assertIn("a port for TLS", self.checks(file, 69)["server"]["hint"])
        self.assertIn("a port for TLS", self.run_tls(file, "run", "-m", "P1", "--", "echo", "held").stderr)

    def test_a_key_that_others_can_read(self):
        key = self.path("key")
        with open(self.key, encoding="utf-8") as own:
            secret = own.read()
        self.write("key", secret)
        os.chmod(key, 0o644)
        file = self.settings(zookeeper_tls_key_file=key)
        for command in (("config", "check", file), ("run", "-m", "P1", "--", "echo", "held"), ("doctor",)):
            result = self.run_tls(file, *command)
            self.assertEqual(result.returncode, 78, result.stderr)
            self.assertIn("can be accessed by others (mode 0644)", result.stderr)
            self.assertNotIn(secret.splitlines()[1], result.stdout + result.stderr)

    def test_bench_does_not_pretend(self):
        result = self.run_tls(self.settings(), "bench", "uncontended")
        self.assertEqual(result.returncode, 78, result.stderr)
        self.assertIn("speaks no TLS", result.stderr)


if __name__ == "__main__":
    support.main()
