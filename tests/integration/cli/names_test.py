"""The command beside a name server that never answers."""

import os
import signal
import socket
import subprocess
import time
import unittest

import hostile_test
import support


@unittest.skipUnless(os.geteuid() == 0, "only root can have a name server of its own")
class SilentNameServer(hostile_test.Waiting, support.CliTest):
    """Names are asked of a server that never answers; it is one of a mount namespace's own."""

    ADDRESS = "127.0.0.53"

    def setUp(self):
        super().setUp()
        self.questions = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(self.questions.close)
        self.questions.bind((self.ADDRESS, 53))
        self.questions.settimeout(support.PATIENCE)
        self.resolver = self.write("resolv.conf", f"nameserver {self.ADDRESS}\n")
        self.silent = "zookeeper.forelock.test:2181"

    def start(self, servers, *arguments, **options):
        self.forget_questions()
        inside = f'mount --bind {self.resolver} /etc/resolv.conf && exec "$@"'
        command = [support.BINARY, "--zookeeper", servers + self.namespace, *arguments]
        child = subprocess.Popen(["unshare", "--mount", "sh", "-c", inside, "sh", *command],
                                 env=support.clean_environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True, **options)
        self.children.append(child)
        return child

    def ends(self, bound, code, servers, *arguments):
        """From its first question on."""
        def attempt():
            child = self.start(servers, *arguments)
            self.wait_for_question()
            return self.seconds_to_end(child, time.monotonic(), code)
        hostile_test.ends_by(self, bound, attempt)

    def forget_questions(self):
        """Of former ones; they have ended."""
        self.questions.settimeout(0)
        try:
            while self.questions.recv(512):
                pass
        except BlockingIOError:
            self.questions.settimeout(support.PATIENCE)

    def wait_for_question(self):
        self.assertTrue(self.questions.recv(512))

    def test_a_timeout_holds(self):
        self.ends(1.5, 69, self.silent, "run", "-m", "P1", "--timeout", "1500ms", "--", "true")

    def test_a_signal_ends_the_waiting(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            def attempt():
                child = self.start(self.silent, "run", "-m", "P1", "--timeout", "1m", "--", "true")
                self.wait_for_question()
                begin = time.monotonic()
                child.send_signal(number)
                return self.seconds_to_end(child, begin, 128 + number)
            hostile_test.ends_by(self, 0, attempt)

    def test_one_good_address_is_enough(self):
        # Half a second for the other one's answer.
        self.ends(0.5, 0, support.SERVER + "," + self.silent, "run", "-m", "P1", "--timeout", "6s", "--", "true")
        self.ends(1.5, 3, support.SERVER + "," + self.silent, "run", "-m", "P1", "--", "sh", "-c", "sleep 1; exit 3")

    def test_a_look_ends_with_its_patience(self):
        self.ends(1.0, 69, self.silent, "ls", "--set", "zookeeper.session.timeout=1000")
        self.ends(1.5, 69, self.silent, "wait", "P1", "--timeout", "1500ms")

    def test_the_doctor_knows_by_when(self):
        # Two seconds for a name.
        self.ends(2.0, 69, self.silent, "doctor", "--quick")
        self.ends(2.0, 69, self.silent, "doctor")
        # A standalone server is no part of an ensemble, whatever the other name may be.
        self.ends(1.0, 78, support.SERVER + "," + self.silent, "doctor", "--quick")

    def test_a_dead_letter_needs_no_name_of_a_broker(self):
        # Two seconds for Kafka's answer.
        options = ("--set", "kafka.bootstrap.servers=kafka.forelock.test:9092", "--set",
                   "dlq.outbox.path=" + self.path("outbox.db"), "--set", "elastic.request.retry.count=0")
        self.ends(2.5, 79, support.SERVER, *options, "run", "-m", "P1", "--retry", "--", "sh", "-c", "exit 3")
        # After its time 0.6 s for letters under way and 0.25 s for a look-up under way.
        self.ends(2.35, 69, support.SERVER, *options, "dlq", "forward", "--timeout", "1500ms")
