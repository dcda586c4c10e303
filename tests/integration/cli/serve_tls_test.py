"""forelock serve with TLS: who gets in, what is refused, and new certificates while it runs."""

import http.client
import json
import os
import socket
import ssl
import subprocess
import unittest

import support
from support import wait_until

NEW = ("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")
EXTENSIONS = "subjectAltName=DNS:localhost,IP:127.0.0.1"


class ServeTlsTest(support.CliTest):
    def setUp(self):
        super().setUp()
        self.ca, self.ca_key = self.authority("ca")
        self.certificate, self.key = self.issue("server")

    def openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], check=True, capture_output=True, timeout=60)

    def authority(self, name):
        certificate, key = self.path(name + ".pem"), self.path(name + ".key")
        self.openssl(*NEW, "-subj", "/CN=" + name, "-keyout", key, "-out", certificate)
        return certificate, key

    def issue(self, name, authority=None):
        """A certificate and its key, which replace those of the same name at once."""
        ca, ca_key = authority or (self.ca, self.ca_key)
        certificate, key = self.path(name + ".pem"), self.path(name + ".key")
        self.openssl(*NEW, "-subj", "/CN=" + name, "-addext", EXTENSIONS,
                     "-addext", "basicConstraints=critical,CA:FALSE", "-CA", ca, "-CAkey", ca_key,
                     "-keyout", key + ".new", "-out", certificate + ".new")
        os.chmod(key + ".new", 0o600)
        os.rename(key + ".new", key)
        os.rename(certificate + ".new", certificate)
        return certificate, key

    def serve(self, *options, listen="127.0.0.1:0"):
        self.serving = self.start_cli("-v", "serve", "--listen", listen, "-o", "json", "--tls-certificate",
                                      self.certificate, "--tls-key", self.key, *options)
        line = self.serving.stdout.readline()
        self.assertTrue(line, self.serving.poll() is None or self.serving.stderr.read())
        url = json.loads(line)["url"]
        self.assertTrue(url.startswith("https://"), url)
        self.port = int(url.split(":")[2].strip("/"))

    def refused(self, *options):
        result = self.run_cli("serve", "-o", "json", *options)
        return result.returncode, json.loads(result.stderr.splitlines()[-1])["error"]

    def trusting(self, certificate=None, **limits):
        context = ssl.create_default_context(cafile=self.ca)
        if certificate:
            context.load_cert_chain(*certificate)
        for name, value in limits.items():
            setattr(context, name, value)
        return context

    def get(self, path, context=None):
        connection = http.client.HTTPSConnection("localhost", self.port, timeout=support.PATIENCE,
                                                 context=context or self.trusting())
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()

    def certificate_shown(self):
        with socket.create_connection(("127.0.0.1", self.port), timeout=support.PATIENCE) as plain:
            with self.trusting().wrap_socket(plain, server_hostname="localhost") as line:
                return line.getpeercert(binary_form=True)

    def plain(self, data):
        """What comes on a connection without TLS, until its end."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as line:
            line.sendall(data)
            answer = b""
            while part := line.recv(4096):
                answer += part
            return answer

    def test_pages_and_streams(self):
        self.serve()
        self.assertEqual(self.get("/livez")[0], 200)
        wait_until(lambda: self.get("/readyz")[0] == 200, "it is ready")
        self.assertIn("<html", self.get("/")[1])
        connection = http.client.HTTPSConnection("localhost", self.port, timeout=support.PATIENCE,
                                                 context=self.trusting())
        connection.request("GET", "/api/events")
        stream = connection.getresponse()
        self.assertIn(b"snapshot", stream.fp.readline() + stream.fp.readline())
        self.hold("P1")
        while b"P1" not in stream.fp.readline():
            pass
        connection.close()

    def test_several_requests_and_a_proper_end(self):
        self.serve()
        with socket.create_connection(("127.0.0.1", self.port), timeout=support.PATIENCE) as plain:
            # A missing end of TLS would be an error here.
            with self.trusting().wrap_socket(plain, server_hostname="localhost", suppress_ragged_eofs=False) as line:
                request = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n"
                line.sendall(request + b"\r\n" + request + b"Connection: close\r\n\r\n")
                answer = b""
                while part := line.recv(4096):
                    answer += part
        self.assertEqual(answer.count(b"HTTP/1.1 200"), 2)

    def test_old_protocols_are_refused(self):
        self.serve()
        old = self.trusting()
        old.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
        old.maximum_version = ssl.TLSVersion.TLSv1_1
        old.set_ciphers("ALL:@SECLEVEL=0")
        with self.assertRaisesRegex(ssl.SSLError, "(?i)alert.protocol.version"):
            self.get("/livez", old)
        for version in ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3:
            self.assertEqual(self.get("/livez", self.trusting(maximum_version=version))[0], 200, version)
        weak = self.trusting(maximum_version=ssl.TLSVersion.TLSv1_2)
        weak.set_ciphers("AES128-SHA:ECDHE-ECDSA-AES128-SHA:@SECLEVEL=0")  # no forward secrecy; CBC
        with self.assertRaisesRegex(ssl.SSLError, "(?i)alert.handshake.failure"):
            self.get("/livez", weak)

    def test_who_speaks_http_is_told(self):
        self.serve()
        answer = self.plain(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.assertTrue(answer.startswith(b"HTTP/1.1 400 "), answer)
        self.assertIn(b"https://", answer)
        self.assertIn(b"tls_required", answer)
        self.assertNotIn(b"<html", answer)
        self.plain(b"\x16\x03\x01" + bytes(200))  # ends, whatever it says
        self.assertEqual(self.get("/livez")[0], 200)

    def test_a_key_that_others_can_read_is_refused(self):
        os.chmod(self.key, 0o644)
        code, error = self.refused("--tls-certificate", self.certificate, "--tls-key", self.key)
        self.assertEqual((code, error["code"]), (78, "tls"), error)
        self.assertIn(self.key, error["message"])

    def test_what_does_not_fit_is_refused(self):
        other, other_key = self.issue("other")
        cases = [(["--tls-certificate", other, "--tls-key", self.key], 78),
                 (["--tls-certificate", self.path("none"), "--tls-key", self.key], 78),
                 (["--tls-certificate", self.write("empty", ""), "--tls-key", self.key], 78),
                 (["--tls-certificate", self.certificate], 64), (["--tls-key", other_key], 64),
                 (["--tls-client-ca", self.ca], 64)]
        for options, expected in cases:
            self.assertEqual(self.refused("--listen", "127.0.0.1:0", *options)[0], expected, options)

    def test_a_key_with_a_password_is_refused_without_asking(self):
        secret = self.path("secret.key")
        self.openssl("ec", "-in", self.key, "-aes128", "-passout", "pass:hunter2", "-out", secret)
        os.chmod(secret, 0o600)
        code, error = self.refused("--tls-certificate", self.certificate, "--tls-key", secret)
        self.assertEqual((code, error["code"]), (78, "tls"), error)

    def test_new_certificates_count_for_new_connections(self):
        self.serve()
        first = self.certificate_shown()
        lasting = http.client.HTTPSConnection("localhost", self.port, timeout=support.PATIENCE, context=self.trusting())
        self.addCleanup(lasting.close)
        lasting.request("GET", "/livez")
        lasting.getresponse().read()
        self.issue("server")
        wait_until(lambda: self.certificate_shown() != first, "the new certificate is shown")
        second = self.certificate_shown()
        lasting.request("GET", "/livez")
        self.assertEqual(lasting.getresponse().read(), self.get("/livez")[1].encode(), "on the former one")
        # One that does not fit: said, and the former one stays.
        os.chmod(self.key, 0o644)
        self.assertIn("TLS: " + self.key, self.serving.stderr.readline())
        self.assertEqual(self.certificate_shown(), second)
        self.issue("server")
        wait_until(lambda: self.certificate_shown() != second, "it is right again")

    def test_beyond_this_machine_it_takes_tls_and_a_certificate_of_clients(self):
        everywhere = ["--listen", "0.0.0.0:0"]
        pair = ["--tls-certificate", self.certificate, "--tls-key", self.key]
        for options, word in ((everywhere, "in the clear"), (everywhere + pair, "--tls-client-ca"),
                              (everywhere + ["--readable-by-all"], "in the clear")):
            code, error = self.refused(*options)
            self.assertEqual((code, error["code"]), (78, "not_permitted"), error)
            self.assertIn(word, error["message"] + error["hint"])
        self.serve("--readable-by-all", listen="0.0.0.0:0")
        self.assertEqual(self.get("/livez")[0], 200)

    def test_clients_show_a_certificate_where_one_is_wanted(self):
        self.serve("--tls-client-ca", self.ca, listen="0.0.0.0:0")
        self.assertEqual(self.get("/livez", self.trusting(self.issue("prometheus")))[0], 200)
        with self.assertRaises((ssl.SSLError, ConnectionError, http.client.HTTPException)):
            self.get("/livez")
        stranger = self.issue("stranger", self.authority("elsewhere"))
        with self.assertRaises((ssl.SSLError, ConnectionError, http.client.HTTPException)):
            self.get("/livez", self.trusting(stranger))
        self.assertNotIn(b"200", self.plain(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")[:12])

    def test_an_admin_acts_over_tls(self):
        tokens = self.write("tokens", "anna " + "a" * 40 + "\n")
        os.chmod(tokens, 0o600)
        self.serve("--admin", tokens)
        wait_until(lambda: self.get("/readyz")[0] == 200, "it is ready")
        child = self.hold("P1", script="echo ready; exec sleep 1000")
        holder = self.holder("P1")
        connection = http.client.HTTPSConnection("localhost", self.port, timeout=support.PATIENCE,
                                                 context=self.trusting())
        self.addCleanup(connection.close)
        headers = {"Authorization": "Bearer " + "a" * 40, "Content-Type": "application/json",
                   "Origin": f"https://localhost:{self.port}", "Sec-Fetch-Site": "same-origin"}
        connection.request("GET", "/api/admin", headers=headers)
        headers["X-Forelock-CSRF"] = json.loads(connection.getresponse().read())["csrf"]
        body = json.dumps({"holder": f"{holder['node']}@{holder['token']}", "reason": "it hangs"})
        connection.request("POST", "/api/monitors/P1/release", body=body, headers=headers)
        response = connection.getresponse()
        self.assertEqual(response.status, 200, response.read())
        self.assertEqual(child.wait(support.PATIENCE), 76)


if __name__ == "__main__":
    unittest.main()
