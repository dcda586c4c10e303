"""The command with SASL's GSSAPI, over TLS as well: a KDC of this test's own, and servers that have keytabs of it."""

import json
import os
import signal
import subprocess

import support
from zookeepers import ZooKeepers, free_ports

REALM = "FORELOCK.TEST"
NEW_KEY = ("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
           "2")
PROGRAMS = "/usr/sbin:/usr/bin:/sbin:/bin"


class Realm:
    """A KDC in a folder; its principals have keytabs and no passwords."""

    def __init__(self, test):
        self.folder = test.path("kdc")
        os.mkdir(self.folder)
        self.port = free_ports(1, ["127.0.0.1"])[0]
        self.write("krb5.conf", f"""[libdefaults]
  default_realm = {REALM}
  dns_canonicalize_hostname = false
  dns_lookup_kdc = false
  rdns = false
  udp_preference_limit = 1
  kdc_timeout = 2s
  max_retries = 1
[realms]
  {REALM} = {{
    kdc = 127.0.0.1:{self.port}
  }}
""")
        self.write("kdc.conf", f"""[kdcdefaults]
  kdc_listen = 127.0.0.1:{self.port}
  kdc_tcp_listen = 127.0.0.1:{self.port}
[realms]
  {REALM} = {{
    database_name = {self.folder}/principal
    key_stash_file = {self.folder}/stash
    acl_file = {self.folder}/acl
    max_life = 1h
  }}
""")
        self.environment = {"KRB5_CONFIG": self.folder + "/krb5.conf", "KRB5_KDC_PROFILE": self.folder + "/kdc.conf",
                            "KRB5RCACHETYPE": "none", "PATH": PROGRAMS}
        self.run("kdb5_util", "create", "-s", "-W", "-P", "of the database alone")
        self.start()
        test.addCleanup(self.stop)

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)
        return os.path.join(self.folder, name)

    def run(self, *command, **more):
        return subprocess.run(command, env={**self.environment, **more}, check=True, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True)

    def start(self):
        with open(self.folder + "/log", "ab") as log:
            self.process = subprocess.Popen(["krb5kdc", "-n"], env=self.environment, stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log)

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(support.PATIENCE)

    def keytab(self, principal):
        file = os.path.join(self.folder, principal.replace("/", "_") + ".keytab")
        self.run("kadmin.local", "-q", f"addprinc -randkey {principal}")
        self.run("kadmin.local", "-q", f"ktadd -k {file} {principal}")
        return file


class KerberosTest(support.CliTest):
    makes_namespace = False

    def setUp(self):
        super().setUp()
        self.realm = Realm(self)
        self.own = self.realm.keytab("worker")

    def certificates(self):
        """An authority, and for each of "server" and "client" a certificate of it and a key."""
        subprocess.run([*NEW_KEY, "-subj", "/CN=authority", "-keyout", self.path("ca.key"), "-out",
                        self.path("ca.pem")], check=True, capture_output=True)
        for name in ("server", "client"):
            subprocess.run([*NEW_KEY, "-subj", "/CN=" + name, "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
                            "-addext", "basicConstraints=critical,CA:FALSE", "-CA", self.path("ca.pem"), "-CAkey",
                            self.path("ca.key"), "-keyout", self.path(name + ".key"), "-out", self.path(name + ".pem")],
                           check=True, capture_output=True)
            os.chmod(self.path(name + ".key"), 0o600)

    def secure_lines(self):
        self.certificates()
        with open(self.path("server.key"), encoding="ascii") as key, \
                open(self.path("server.pem"), encoding="ascii") as certificate:
            both = self.write("both.pem", key.read() + certificate.read())
        return ["serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory", "ssl.keyStore.location=" + both,
                "ssl.trustStore.location=" + self.path("ca.pem")]

    def servers(self, service="zookeeper", count=1, secure=()):
        keytab = self.realm.keytab(service + "/localhost")
        jaas = self.write("jaas.conf", f"""Server {{
  com.sun.security.auth.module.Krb5LoginModule required
  useKeyTab=true storeKey=true useTicketCache=false
  keyTab="{keytab}" principal="{service}/localhost@{REALM}";
}};
""")
        return ZooKeepers(self, ensemble=count > 1, count=count, secure=secure, options=[
            "enforce.auth.enabled=true", "enforce.auth.schemes=sasl",
            "authProvider.1=org.apache.zookeeper.server.auth.SASLAuthenticationProvider"],
            properties=["java.security.auth.login.config=" + jaas,
                        "java.security.krb5.conf=" + self.realm.folder + "/krb5.conf"])

    def settings(self, servers, **more):
        # Principals have names, and no addresses.
        values = {"zookeeper.servers": servers.addresses().replace("127.0.0.1", "localhost"),
                  "zookeeper.sasl.mechanism": "GSSAPI", "zookeeper.session.timeout": "10000",
                  "zookeeper.foregound.task.timeout": "30000"}
        values.update({key.replace("_", "."): value for key, value in more.items()})
        return self.write("gssapi.properties", "".join(f"{key}={value}\n" for key, value in values.items()))

    def credentials(self):
        """A ticket, as `kinit` gives it."""
        cache = "FILE:" + self.path("tickets")
        self.realm.run("kinit", "-k", "-t", self.own, "worker", KRB5CCNAME=cache)
        return {"KRB5_CONFIG": self.realm.environment["KRB5_CONFIG"], "KRB5CCNAME": cache}

    def none(self):
        return {"KRB5_CONFIG": self.realm.environment["KRB5_CONFIG"], "KRB5CCNAME": "FILE:" + self.path("none")}

    def lock(self, file, environment):
        return self.run_cli("--config", file, "run", "-m", "P1", "--", "echo", "held", server=False, **environment)

    def test_locks_with_a_ticket_or_a_keytab(self):
        servers = self.servers()
        file = self.settings(servers)
        keytab = {**self.none(), "KRB5_CLIENT_KTNAME": self.own}
        for environment in (self.credentials(), keytab):
            result = self.lock(file, environment)
            self.assertEqual((result.returncode, result.stdout), (0, "held\n"), result.stderr)
        result = self.run_cli("--config", file, "doctor", "-o", "json", server=False, **self.credentials())
        checks = {each["check"]: each for each in json.loads(result.stdout)["checks"]}
        self.assertIn("accepts this client's credentials (GSSAPI)", checks["sasl"]["message"])
        self.assertEqual(checks["lock"]["status"], "ok", result.stdout)

    def test_over_mutual_tls(self):
        servers = self.servers(secure=self.secure_lines())
        tls = {"zookeeper_servers": f"localhost:{servers.secure_ports[0]}",
               "zookeeper_tls_ca_file": self.path("ca.pem")}
        ours = {"zookeeper_tls_certificate_file": self.path("client.pem"),
                "zookeeper_tls_key_file": self.path("client.key")}
        file = self.settings(servers, **tls, **ours)
        # A virtual machine takes its time for its first handshake.
        support.wait_until(lambda: self.lock(file, self.credentials()).returncode == 0, "the port speaks TLS", 120)
        result = self.lock(file, self.credentials())
        self.assertEqual((result.returncode, result.stdout), (0, "held\n"), result.stderr)
        result = self.run_cli("--config", file, "doctor", "-o", "json", server=False, **self.credentials())
        checks = {each["check"]: each for each in json.loads(result.stdout)["checks"]}
        self.assertIn("its own", checks["tls"]["message"])
        self.assertIn("accepts this client's credentials (GSSAPI)", checks["sasl"]["message"])
        self.assertEqual(checks["lock"]["status"], "ok", result.stdout)
        # Neither a ticket without a certificate is enough, nor a certificate without a ticket.
        result = self.lock(self.settings(servers, **tls), self.credentials())
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("refuses this client", result.stderr)
        result = self.lock(self.settings(servers, **tls, **ours), self.none())
        self.assertEqual(result.returncode, 77, result.stderr)
        self.assertIn("check this client's Kerberos credentials", result.stderr)

    def test_a_lock_that_is_held_while_each_server_restarts(self):
        servers = self.servers(count=3)
        file = self.settings(servers)
        holder = subprocess.Popen(
            [support.BINARY, "--config", file, "run", "-m", "P1", "--",
             "sh", "-c", "echo ready; read line; echo $line"],
            env=support.clean_environment(**self.credentials()), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        self.children.append(holder)
        self.assertEqual(holder.stdout.readline(), "ready\n")
        for i in range(3):
            servers.restart(i)
            result = self.run_cli("--config", file, "run", "-m", f"P{i + 2}", "--", "true", server=False,
                                  **self.credentials())
            self.assertEqual(result.returncode, 0, result.stderr)
        out, err = holder.communicate("still held\n", support.PATIENCE)
        self.assertEqual((holder.returncode, out), (0, "still held\n"), err)

    def test_what_is_wrong_is_said(self):
        servers = self.servers()
        file = self.settings(servers)
        result = self.lock(file, self.none())
        self.assertEqual(result.returncode, 77, result.stderr)
        self.assertIn("check this client's Kerberos credentials", result.stderr)
        # The server's principal has another name.
        result = self.lock(self.settings(servers, zookeeper_sasl_service="other"), self.credentials())
        self.assertEqual(result.returncode, 77, result.stderr)
        self.assertIn(f"Server other/localhost@{REALM} not found in Kerberos database", result.stderr)
        # No KDC, and a ticket for the KDC alone.
        environment = self.credentials()
        self.realm.stop()
        result = self.lock(file, environment)
        self.assertEqual(result.returncode, 77, result.stderr)
        self.assertIn("SASL to localhost:", result.stderr)

    def test_another_service(self):
        file = self.settings(self.servers(service="locks"), zookeeper_sasl_service="locks")
        result = self.lock(file, self.credentials())
        self.assertEqual((result.returncode, result.stdout), (0, "held\n"), result.stderr)

    def test_a_server_of_passwords(self):
        jaas = self.write("jaas.conf", """Server {
  org.apache.zookeeper.server.auth.DigestLoginModule required
  user_alice="wonder land";
};
""")
        servers = ZooKeepers(self, ensemble=False, count=1, properties=["java.security.auth.login.config=" + jaas])
        self.realm.keytab("zookeeper/localhost")
        result = self.lock(self.settings(servers), self.credentials())
        self.assertEqual(result.returncode, 77, result.stderr)
        self.assertIn("SASL to localhost:", result.stderr)


if __name__ == "__main__":
    support.main()
