"""The command with SASL: it works as it does without, over TLS as well, and doctor says what is wrong."""

import json
import os
import subprocess

import support


class SaslTest(support.CliTest):
    makes_namespace = False

    @classmethod
    def setUpClass(cls):
        cls.host = subprocess.Popen([os.environ["FORELOCK_SERVER_HOST"], "sasl"], stdin=subprocess.PIPE,
                                    stdout=subprocess.PIPE, text=True)
        (cls.address, cls.tls_address, cls.authority, cls.certificate, cls.key, cls.password,
         cls.wrong) = cls.host.stdout.readline().split()

    @classmethod
    def tearDownClass(cls):
        cls.host.communicate(timeout=support.PATIENCE)

    def settings(self, tls=False, **more):
        values = {"zookeeper.servers": self.tls_address if tls else self.address,
                  "zookeeper.sasl.mechanism": "DIGEST-MD5", "zookeeper.sasl.user": "alice",
                  "zookeeper.sasl.password.file": self.password, "zookeeper.session.timeout": "4000",
                  "zookeeper.foregound.task.timeout": "60000"}
        if tls:
            values.update({"zookeeper.tls.ca.file": self.authority, "zookeeper.tls.key.file": self.key,
                           "zookeeper.tls.certificate.file": self.certificate})
        values.update({key.replace("_", "."): value for key, value in more.items()})
        return self.write("sasl.properties", "".join(f"{key}={value}\n" for key, value in values.items() if value))

    def run_sasl(self, file, *arguments):
        result = self.run_cli("--config", file, *arguments, server=False)
        for password in (self.password, self.wrong):
            with open(password, encoding="utf-8") as secret:
                self.assertNotIn(secret.read().strip(), result.stdout + result.stderr)
        return result

    def checks(self, file, expect):
        result = self.run_sasl(file, "doctor", "-o", "json")
        self.assertEqual(result.returncode, expect, result.stdout + result.stderr)
        return {each["check"]: each for each in json.loads(result.stdout)["checks"]}

    def test_everything_works(self):
        for tls in (False, True):
            file = self.settings(tls=tls)
            self.assertEqual(self.run_sasl(file, "config", "check", file).returncode, 0)
            result = self.run_sasl(file, "run", "-m", "P1", "--", "echo", "held")
            self.assertEqual((result.returncode, result.stdout), (0, "held\n"), result.stderr)
            checks = self.checks(file, 0)
            self.assertEqual(checks["sasl"]["status"], "ok")
            self.assertIn("accepts this client's credentials (DIGEST-MD5)", checks["sasl"]["message"])
            self.assertEqual(checks["lock"]["status"], "ok")
        self.assertIn("serves no client without credentials", self.checks(self.settings(), 0)["access"]["message"])

    def test_the_session_of_a_killed_process_is_ended(self):
        session = self.path("app.session")
        file = self.settings(zookeeper_session_file=session, zookeeper_session_timeout="60000")
        holder = subprocess.Popen([support.BINARY, "--config", file, "run", "-m", "P2", "--", "sh", "-c",
                                   "echo ready; read forever"], env=support.clean_environment(), text=True,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.children.append(holder)
        self.assertEqual(holder.stdout.readline(), "ready\n")
        holder.kill()
        holder.wait()
        holder.stdin.close()  # so that its command ends, too
        support.wait_until(lambda: self.run_sasl(file, "recover", session).returncode == 0, "the session is ended")
        result = self.run_sasl(file, "run", "-m", "P2", "--timeout", "5s", "--", "echo", "free")
        self.assertEqual((result.returncode, result.stdout), (0, "free\n"), result.stderr)

    def test_without_credentials(self):
        lock = self.checks(self.write("none.properties", f"zookeeper.servers={self.address}\n"), 77)["lock"]
        self.assertIn("set zookeeper.sasl.mechanism", lock["hint"])

    def test_a_wrong_password(self):
        file = self.settings(zookeeper_sasl_password_file=self.wrong)
        self.assertIn("refuses this client's credentials", self.checks(file, 77)["sasl"]["message"])
        result = self.run_sasl(file, "run", "-m", "P1", "--", "echo", "held")
        self.assertEqual(result.returncode, 77, result.stderr)
        self.assertIn("refuses this client's credentials", result.stderr)

    def test_a_password_that_others_can_read(self):
        password = self.write("password", "hunter2\n")
        os.chmod(password, 0o644)
        file = self.settings(zookeeper_sasl_password_file=password)
        for command in (("config", "check", file), ("run", "-m", "P1", "--", "echo", "held"), ("doctor",)):
            result = self.run_sasl(file, *command)
            self.assertEqual(result.returncode, 78, result.stderr)
            self.assertIn("can be accessed by others (mode 0644)", result.stderr)

    def test_mechanisms_that_no_server_has(self):
        file = self.settings(zookeeper_sasl_mechanism="SCRAM-SHA-256")
        result = self.run_sasl(file, "config", "check", file)
        self.assertEqual(result.returncode, 78, result.stderr)
        self.assertIn("write DIGEST-MD5 or GSSAPI", result.stderr)

    def test_a_machine_without_the_library(self):
        folder = self.path("empty")
        os.mkdir(folder)
        result = self.run_cli("--config", self.settings(), "run", "-m", "P1", "--", "true", server=False,
                              SASL_PATH=folder)
        self.assertEqual(result.returncode, 78, result.stderr)
        self.assertIn("libsasl2 has no DIGEST-MD5 on this machine: install libsasl2-modules", result.stderr)

    def test_bench_does_not_pretend(self):
        result = self.run_sasl(self.settings(), "bench", "uncontended")
        self.assertEqual(result.returncode, 78, result.stderr)
        self.assertIn("speaks no SASL", result.stderr)


if __name__ == "__main__":
    support.main()
