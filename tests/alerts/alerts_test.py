"""The alerts and the dashboard of config/: each alert begins when what it is for happens to a real `forelock serve`,
none does while all is well, and every panel shows something.

A real Prometheus reads the processes of `serve`. Its rules are those of config/, but without their waiting times
("for"), which rules_test.yaml tests.
"""

import contextlib
import http.client
import json
import os
import random
import re
import socket
import subprocess
import tempfile
import unittest
import unittest.mock
import urllib.parse
import urllib.request

import support
from dlq_support import DlqTest
from serve_test import ServeTest
from support import wait_until

CONFIG = os.environ["FORELOCK_CONFIG_FILES"]
RULES = os.path.join(CONFIG, "prometheus-alerts.yaml")
DASHBOARD = os.path.join(CONFIG, "grafana-dashboard.json")
FAKE_TIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"
ANNA = "a" * 40
METRIC = re.compile(r"\bforelock_[a-z0-9_]+")
# Waiters of another program: "privateLock" is held, and so many contenders wait.
MANY = """
import sys
from kazoo.client import KazooClient
client = KazooClient(sys.argv[1])
client.start()
client.ensure_path("/many")
client.create("/many/privateLock", b"", ephemeral=True)
made = [client.create_async("/many/A-", b"", ephemeral=True, sequence=True) for _ in range(1001)]
for each in made:
    each.get()
print("ready", flush=True)
sys.stdin.read()
client.stop()
"""


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def clock(offset):
    """The programs that are started meanwhile have another time of day."""
    return unittest.mock.patch.dict(os.environ, {"LD_PRELOAD": FAKE_TIME, "FAKETIME": offset,
                                                 "DONT_FAKE_MONOTONIC": "1", "FAKETIME_NO_CACHE": "1"})


def free_ports(count):
    """Such as no connection takes for its near end until they are used."""
    with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as file:
        first_ephemeral = int(file.read().split()[0])
    ports = set()
    while len(ports) < count:
        port = random.randrange(10_000, max(first_ephemeral, 11_000))
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            ports.add(port)
    return list(ports)


def panels():
    """Title and expression of each, with the dashboard's variables replaced as Grafana does for "All"."""
    for panel in json.loads(read(DASHBOARD))["panels"]:
        for target in panel.get("targets", []):
            yield panel["title"], target["expr"].replace("$job", ".+").replace("$__rate_interval", "1m")


class Prometheus:
    """One that reads several ports, each a job of its own: forelock-0, …"""

    def __init__(self, directory, ports):
        self.port, = free_ports(1)
        jobs = "".join(f"  - job_name: forelock-{number}\n    static_configs: [{{targets: ['127.0.0.1:{port}']}}]\n"
                       for number, port in enumerate(ports))
        rules = re.sub(r"(?m)^ *for: .*\n", "", read(RULES))
        self.write(directory, "rules.yaml", rules)
        self.write(directory, "prometheus.yaml",
                   "global: {scrape_interval: 250ms, scrape_timeout: 250ms, evaluation_interval: 250ms}\n"
                   f"rule_files: [rules.yaml]\nscrape_configs:\n{jobs}")
        with open(os.path.join(directory, "log"), "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [os.environ["FORELOCK_PROMETHEUS"], f"--config.file={directory}/prometheus.yaml",
                 f"--storage.tsdb.path={directory}/data", f"--web.listen-address=127.0.0.1:{self.port}"],
                stdout=log, stderr=log)

    @staticmethod
    def write(directory, name, text):
        with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
            file.write(text)

    def close(self):
        self.process.terminate()
        self.process.wait()

    def get(self, path, **parameters):
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        with urllib.request.urlopen(url, timeout=support.PATIENCE) as answer:
            return json.loads(answer.read())["data"]

    def query(self, expression):
        return self.get("query", query=expression)["result"]

    def ready(self):
        with contextlib.suppress(OSError, http.client.HTTPException):
            return bool(self.query("up"))
        return False

    def alerts(self, job):
        return {alert["labels"]["alertname"]: alert for alert in self.get("alerts")["alerts"]
                if alert["labels"]["job"] == job and alert["state"] == "firing"}


class Alerting(ServeTest):
    """What the tests share: they differ in the server that they have."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.ports = free_ports(15)
        cls.jobs = iter(enumerate(cls.ports))
        cls.prometheus = Prometheus(directory.name, cls.ports)
        cls.addClassCleanup(cls.prometheus.close)
        wait_until(cls.prometheus.ready, "Prometheus reads")

    def serve_job(self, *options):
        """A process of `serve` that Prometheus knows."""
        number, port = next(self.jobs)
        self.job = f"forelock-{number}"
        self.serve(*options, port=port)
        wait_until(self.is_read, "Prometheus reads it")

    def is_read(self):
        return any(each["value"][1] == "1" for each in self.prometheus.query(f'up{{job="{self.job}"}}'))

    def assert_fires(self, name):
        alert = wait_until(lambda: self.prometheus.alerts(self.job).get(name), name + " fires")
        for text in alert["annotations"].values():
            self.assertNotIn("<no value>", text)
        return alert


class Alerts(Alerting, DlqTest):
    def test_dashboard_shows_something_in_each_panel_and_nothing_fires_while_all_is_well(self):
        tokens = self.write("tokens", f"anna {ANNA}\n")
        os.chmod(tokens, 0o600)
        self.dead_letter("--type", "Save")
        self.serve_job("--history", self.path("history.db"), "--unlocker", "--admin", tokens, "--dead-letters")
        self.hold("P1", "--expected-runtime", "1h", "--auto-unlock-after", "2h")
        self.start_cli("run", "-m", "P1", "-p", "background", "--timeout", "60s", "--", "true")
        self.wait_waiters("P1", 1)
        own = f'job="{self.job}"'
        wait_until(lambda: self.prometheus.query(f'forelock_unlocker_active{{{own}}} == 1'), "it unlocks")
        wait_until(lambda: self.prometheus.query(f'forelock_dlq_depth{{{own}}} == 1'), "letters are counted")
        shown = dict.fromkeys(METRIC.findall(self.request("/metrics")[1]))
        for text in (RULES, DASHBOARD):
            for metric in METRIC.findall(re.sub(r"(?m)^#.*$", "", read(text))):
                if not metric.startswith("forelock_client_"):  # an application's
                    self.assertIn(metric, shown)
        for title, expression in panels():
            self.assertTrue(wait_until(lambda: self.prometheus.query(expression.replace('=~".+"', f'="{self.job}"')),
                                       title + " shows something"))
        wait_until(lambda: self.prometheus.query(f'forelock_waiters{{{own},priority="background"}} == 1'), "it is seen")
        # What was a start's, not connected or without an unlocker yet, is over.
        wait_until(lambda: not self.prometheus.alerts(self.job), "nothing fires")

    def test_deadlock(self):
        self.serve_job()
        one, other = self.nested_locks("One"), self.nested_locks("Other")
        one("lock P1")
        other("lock P2")
        one("lock P2", wait=False)
        other("lock P1", wait=False)
        self.assertIn("1 ring(s)", self.assert_fires("ForelockDeadlock")["annotations"]["summary"])

    def test_orders_that_can_become_a_deadlock(self):
        """One after the other, so that none of them ever waits."""
        self.serve_job()
        stream = self.stream()
        one, other = self.nested_locks("One"), self.nested_locks("Other")

        self.nest(one, "P1", "P2")
        self.assertEqual(self.get("/api/orders")["warnings"], [])
        self.nest(other, "P2", "P1")
        self.assert_fires("ForelockLockOrder")
        told = stream.until(lambda name, _: name == "lock_order")[1]
        warning, = self.get("/api/orders")["warnings"]
        self.assertEqual(warning["sentence"], told["sentence"])  # it may have been seen again since
        self.assertEqual([(order["outer"], order["inner"], order["info"]) for order in warning["orders"]],
                         [("P1", "P2", "One"), ("P2", "P1", "Other")])
        self.assertRegex(warning["sentence"],
                         r"^P2 is locked inside P1 by One \(.*\), and P1 inside P2 by Other \(.*\)$")
        for order in warning["orders"]:
            for stack in ("outer_stack", "inner_stack"):
                self.assertIn("nested_locks", " ".join(order[stack]))

    def test_overdue_holder(self):
        self.serve_job()
        self.hold("P1", "--expected-runtime", "1ms")
        self.assertIn("1 lock(s)", self.assert_fires("ForelockHolderOverdue")["annotations"]["summary"])

    def test_long_wait(self):
        """By a clock that is ahead: to it, whoever waits has waited long."""
        self.hold("P1")
        self.start_cli("run", "-m", "P1", "--timeout", "5m", "--", "true")
        wait_until(lambda: self.queue("P1"), "it waits")
        with clock("+10m"):
            self.serve_job()
        self.assertIn("10m", self.assert_fires("ForelockLongWait")["annotations"]["summary"])

    def test_many_waiters(self):
        self.serve_job()
        many = subprocess.Popen(["/usr/bin/python3", "-c", MANY, self.connect_string()], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, text=True)
        self.children.append(many)
        self.assertEqual(many.stdout.readline(), "ready\n")
        self.assertIn("1001 contenders", self.assert_fires("ForelockManyWaiters")["annotations"]["summary"])

    def test_no_unlocker(self):
        """Its lock is held by what does not unlock."""
        self.hold("forelock-unlocker")
        self.serve_job("--unlocker")
        self.assert_fires("ForelockNoUnlocker")

    def test_holder_is_unlocked(self):
        self.serve_job("--unlocker")
        own = f'{{job="{self.job}"}}'
        wait_until(lambda: self.prometheus.query(f"forelock_auto_unlock_total{own} == 0"), "it has been read before")
        self.hold("P1", "--auto-unlock-after", "1ms")
        self.assert_fires("ForelockAutoUnlocked")

    def test_history_that_another_process_has(self):
        file = self.path("history.db")
        self.serve("--history", file)
        wait_until(lambda: os.path.exists(file), "it has the file")
        self.serve_job("--history", file)
        self.assert_fires("ForelockHistoryNotWritten")

    def test_serve_is_gone(self):
        self.serve_job()
        wait_until(lambda: "ForelockServeDown" not in self.prometheus.alerts(self.job), "it is there")
        self.serving.kill()
        self.assert_fires("ForelockServeDown")

    def test_namespace_is_missing(self):
        with unittest.mock.patch.object(self, "connect_string", lambda: support.SERVER + self.namespace + "/missing"):
            self.serve_job()
        self.assert_fires("ForelockPictureOld")
        self.assertNotIn("ForelockZooKeeperUnreachable", self.prometheus.alerts(self.job))

    def test_zookeeper_is_away(self):
        with unittest.mock.patch.object(self, "connect_string", lambda: "127.0.0.1:1" + self.namespace):
            self.serve_job()
        self.assert_fires("ForelockZooKeeperUnreachable")


    def test_old_dead_letter(self):
        with clock("-2h"):
            self.dead_letter("--type", "Save")
        self.serve_job("--dead-letters")
        self.assertIn("2h", self.assert_fires("ForelockDeadLettersOld")["annotations"]["summary"])

    def test_dead_letters_that_cannot_be_read(self):
        self.outbox = self.path("state")  # a folder
        os.mkdir(self.outbox)
        self.serve_job("--dead-letters")
        self.assert_fires("ForelockDeadLettersUnreadable")


class Coverage(unittest.TestCase):
    def test_each_alert_is_fired_and_has_unit_tests(self):
        of_serve, _, of_applications = read(RULES).partition("- name: forelock-applications")
        names = re.findall(r"alert: (\w+)", of_serve)
        self.assertEqual(sorted(set(re.findall(r'assert_fires\("(\w+)"\)', read(__file__)))), sorted(names))
        names += re.findall(r"alert: (\w+)", of_applications)
        unit_tests = read(os.path.join(os.path.dirname(__file__), "rules_test.yaml"))
        for name in names:
            self.assertRegex(unit_tests, rf"alertname: {name}\n +exp_alerts:\n")


if __name__ == "__main__":
    support.main()
