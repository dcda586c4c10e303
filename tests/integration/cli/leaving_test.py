"""What is left on the server when the command ends while no answer comes, for a moment: nothing."""

import signal
import threading

import support
import tap

SESSION = 30  # seconds: what is gone much earlier has not waited for its end
SOON = SESSION / 3
RETRY = ("--retry", "--payload", "/dev/null", "--type", "t")


class ShortSilence(support.OwnServerTest):
    """The server stands still while the command ends, and goes on afterwards."""

    def setUp(self):
        super().setUp()
        self.line = None

    def arguments(self, *arguments, timeout="1m"):
        settings = ("--set", f"zookeeper.session.timeout={SESSION}000", "--set",
                    "dlq.outbox.path=" + self.path("outbox"))
        return ("run", *settings, "--timeout", timeout, *arguments, "--", "true")

    def connect_string(self):
        return self.line.address if self.line else self.address

    def through(self, line):
        self.addCleanup(line.close)
        self.line = line
        return line

    def directly(self):
        self.line = None

    def is_free_soon(self, monitor):
        support.wait_until(lambda: not self.holder(monitor) and not self.queue(monitor), "nothing is left", SOON)

    def ends_waiting(self, waiter):
        waiter.send_signal(signal.SIGTERM)
        waiter.communicate(timeout=support.PATIENCE)
        self.assertEqual(waiter.returncode, 143)

    def stands_still_at(self, kind):
        """From the moment at which the server gets the first request of this kind."""
        silent = threading.Event()
        self.through(tap.Tap(self.address)).before_request(kind, lambda: (self.silence_server(), silent.set()))
        return silent

    def goes_on(self, *monitors):
        self.wake_server()
        self.directly()
        for monitor in monitors:
            self.is_free_soon(monitor)

    def test_of_a_first_request(self):
        self.stands_still_at(tap.TRANSACTION)
        self.ends(75, *self.arguments("-m", "P1", timeout="500ms"))
        self.goes_on("P1")

    def test_of_a_first_request_that_a_signal_ends(self):
        for options in ((), ("-m", "P2"), RETRY):
            with self.subTest(options=options):
                silent = self.stands_still_at(tap.TRANSACTION)
                waiter = self.start_cli(*self.arguments("-m", "P1", *options))
                self.assertTrue(silent.wait(support.PATIENCE))
                self.ends_waiting(waiter)
                self.goes_on("P1", "P2")

    def test_of_who_waits(self):
        for options in ((), ("-m", "P2"), RETRY):
            with self.subTest(options=options):
                holder = self.hold("P1", "--set", f"zookeeper.session.timeout={SESSION}000")
                waiter = self.start_cli(*self.arguments("-m", "P1", *options))
                support.wait_until(lambda: self.queue("P1"), "it waits")
                self.silence_server()
                self.ends_waiting(waiter)
                self.wake_server()
                self.assertEqual(self.let_go(holder), (0, ""))
                for monitor in ("P1", "P2"):
                    self.is_free_soon(monitor)

    def test_of_a_slow_line(self):
        holder = self.hold("P1")
        line = self.through(tap.Tap(self.address))
        line.delay = 0.4
        waiter = self.start_cli(*self.arguments("-m", "P1"))
        self.directly()
        support.wait_until(lambda: self.queue("P1"), "it waits")
        self.ends_waiting(waiter)
        self.assertEqual(self.let_go(holder), (0, ""))
        self.is_free_soon("P1")
