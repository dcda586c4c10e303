"""forelock serve ends at once, whatever it waits for."""

import signal
import threading
import unittest.mock

import support
import tap
from serve_test import ServeTest


class Stopping(ServeTest, support.OwnServerTest):
    """The time that requests have is longer than any test."""

    makes_namespace = False
    LONG = ("--set", "zookeeper.session.timeout=600000")

    def ends_at_once(self):
        self.serving.send_signal(signal.SIGTERM)
        self.assertEqual(self.serving.wait(support.PATIENCE), 0)

    def test_while_it_waits_for_a_connection(self):
        self.silence_server()
        self.serve(*self.LONG)
        self.ends_at_once()

    def test_while_it_waits_for_its_first_answers(self):
        line = tap.Tap(self.address.split("/")[0])
        self.addCleanup(line.close)
        asked = threading.Event()

        def be_silent():
            self.silence_server()
            asked.set()

        self.hold("P1", script="echo ready; exec sleep 1000")
        line.before_request(tap.LISTING, be_silent)
        with unittest.mock.patch.object(self, "connect_string", lambda: line.address):
            self.serve(*self.LONG)
        self.assertTrue(asked.wait(support.PATIENCE))
        self.ends_at_once()

    def test_while_the_unlocker_waits_for_an_answer(self):
        line = tap.Tap(self.address.split("/")[0])
        self.addCleanup(line.close)
        self.hold("P1", "--auto-unlock-after", "1ms", script="echo ready; exec sleep 1000")
        asked = threading.Event()

        def be_silent():
            self.silence_server()
            asked.set()

        line.before_request(tap.SET_DATA, be_silent, about=b"/P1")
        with unittest.mock.patch.object(self, "connect_string", lambda: line.address):
            self.serve("--unlocker", *self.LONG)
        self.assertTrue(asked.wait(support.PATIENCE))
        self.ends_at_once()


if __name__ == "__main__":
    support.main()
