"""One long drill: a thousand letters, a broker that is away, drainers that are stopped and killed, the way back."""

import base64
import json
import os
import signal
import subprocess

import dlq_kafka_test
import support
from drill_test import OnCall
from support import wait_until

SESSION = ("--set", "zookeeper.session.timeout=2000")

setUpModule = dlq_kafka_test.setUpModule


class Broker:
    """The module's broker, to be taken away."""

    def __init__(self):
        # The folder is that of the process that listens on the broker's port.
        port = dlq_kafka_test.BROKER["address"].split(":")[1]
        listing = subprocess.run(["pgrep", "-f", "kafka.Kafka"], capture_output=True, text=True, check=True).stdout
        for process in listing.split():
            try:
                with open(f"/proc/{process}/cmdline", "rb") as file:
                    command = file.read().split(b"\0")[:-1]
                with open(command[-1], encoding="utf-8") as file:
                    mine = f"PLAINTEXT://127.0.0.1:{port}," in file.read()
            except (OSError, IndexError):  # another's, that has ended meanwhile
                continue
            if mine:
                self.process, self.command = int(process), command
                self.folder = os.path.dirname(command[-1].decode())

    def kill(self):
        self.away = True
        os.kill(self.process, signal.SIGKILL)

    def restart(self):
        with open(os.path.join(self.folder, "output.log"), "ab") as log:
            child = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                     start_new_session=True)
        self.process, self.away = child.pid, False
        # kafka.sh ends it with the module.
        with open(os.path.join(self.folder, "broker.pid"), "w", encoding="ascii") as file:
            file.write(f"{child.pid}\n")
        serving = ["kcat", "-b", dlq_kafka_test.BROKER["address"], "-L", "-m", "5"]
        support.wait_until(lambda: subprocess.run(serving, capture_output=True, check=False).returncode == 0,
                           "the broker serves again", 120)


class LettersTest(dlq_kafka_test.KafkaTest):
    def setUp(self):
        super().setUp()
        self.said = []  # on stderr
        self.init()

    def letters_of(self, monitors, each):
        """Records as `dlq export` writes them, in the order in which they failed."""
        records = []
        for number in range(each):
            for monitor in range(monitors):
                at = f"2026-01-01T{number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}.{monitor:03}Z"
                records.append({
                    "schema": 1, "id": f"M{monitor}-{number:04}", "type": "save", "monitor": f"M{monitor}",
                    "priority": "background", "lockInfo": "save",
                    "payload": {"encoding": "base64", "data": base64.b64encode(b"body").decode()},
                    "attempts": [{"n": 1, "at": at, "code": "exit_75", "message": "m", "waited_ms": 1}],
                    "max_attempts": 1, "enqueued_at": at, "failed_at": at, "replay_count": 0,
                    "client": {"host": "h", "pid": 1, "instance": "h/1", "version": "0.1.0"}, "reason": "exit_75"})
        return records

    def give(self, records, *options):
        file = self.write("letters.ndjson", "".join(json.dumps(record) + "\n" for record in records))
        result = self.ends(0, "dlq", "import", file, "--execute", "-o", "json", *options)
        self.said.append(result.stderr)
        self.assertEqual(json.loads(result.stdout)["restored"], len(records))
        return [record["id"] for record in records]


class Drill(LettersTest):
    def setUp(self):
        super().setUp()
        self.journal = self.path("journal")

    def start(self, *arguments):
        """Its stderr goes to a file: nobody reads a pipe of one that is stopped."""
        name = self.path("said-" + str(len(self.children)))
        with open(name, "wb") as errors:
            child = subprocess.Popen(self.command(*arguments), env=support.clean_environment(),
                                     stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors)
        self.children.append(child)
        return child

    def end(self, child, patience=60):
        child.wait(patience)
        return child.returncode

    def everything_said(self):
        files = [self.path(name) for name in os.listdir(self.directory.name) if name.startswith("said-")]
        text = "".join(self.said)
        for name in files:
            with open(name, encoding="utf-8") as file:
                text += file.read()
        return text

    def drainer(self, *options):
        return ("dlq", "replay", "--execute", *SESSION, "--lock-timeout", "10s", "--concurrency", "8", *options,
                "--exec", f"echo $FORELOCK_MONITOR $FORELOCK_DLQ_ID >> {self.journal}")

    def done(self):
        """Ids, by monitor, each at its first time."""
        order = {}
        for line in self.lines_of("journal"):
            monitor, identity = line.split()
            order.setdefault(monitor, {}).setdefault(identity)
        return {monitor: list(ids) for monitor, ids in order.items()}

    def check(self, made, but=()):
        """Every letter is done or in sight, and each monitor's were done in their order."""
        done = self.done()
        everything = {identity for ids in done.values() for identity in ids}
        in_sight = set(self.ids()) | set(self.ids("--parked"))
        self.assertEqual(set(made) - everything - in_sight - set(but), set(), "out of sight")
        for ids in done.values():
            self.assertEqual(ids, sorted(ids), "out of order")

    def wait_for_turn(self):
        drainer = "forelock-dlq-topic-" + self.topic
        support.wait_until(lambda: not self.holder(drainer), "its session ends")


class Long(Drill):
    def test_a_thousand_letters(self):
        records = self.letters_of(50, 20)
        broker = Broker()
        timeout = ("--set", "kafka.message.timeout.ms=2000", "--set", "kafka.reconnect.backoff.max.ms=200")
        half = len(records) // 2
        broker.kill()
        made = self.give(records[:half], "--outbox")
        forwarder = self.start("dlq", "forward", "--follow", *timeout)
        # Away for longer than a confirmation may take.
        support.wait_until(lambda: "not confirmed for 2000 ms" in self.everything_said(), "it is said", 60)
        made += self.give(records[half:], "--outbox")
        broker.restart()
        support.wait_until(lambda: not self.ids("--outbox"), "everything is in Kafka", 120)
        forwarder.send_signal(signal.SIGTERM)
        self.assertEqual(self.end(forwarder), 0)

        stopped = self.start(*self.drainer("--max", "300"))
        support.wait_until(lambda: len(self.lines_of("journal")) > 50, "it drains", 60)
        stopped.send_signal(signal.SIGSTOP)
        self.wait_for_turn()
        killed = self.start(*self.drainer("--max", "300"))
        support.wait_until(lambda: len(self.lines_of("journal")) > 150, "the next one drains", 60)
        killed.kill()
        self.end(killed)
        stopped.send_signal(signal.SIGCONT)
        self.end(stopped)
        self.wait_for_turn()
        self.check(made)

        kept = self.path("kept.ndjson")
        self.assertEqual(self.run_cli("dlq", "export", "--monitor", "M7", "--output", kept).returncode, 0)
        result = self.ends(0, "dlq", "purge", "--monitor", "M7", "--yes")
        self.said.append(result.stderr)
        self.assertEqual(self.ids("--monitor", "M7"), [])
        result = self.ends(0, "dlq", "import", kept, "--execute")
        self.said.append(result.stderr)
        self.assertEqual(len(self.ids("--monitor", "M7")), len(self.lines_of("kept.ndjson")))

        # A busy machine may cost a drainer its short session: the next one goes on.
        for _ in range(10):
            self.end(self.start(*self.drainer()), 300)
            self.wait_for_turn()
            if not self.ids():
                break
        self.assertEqual((self.ids(), self.ids("--parked")), ([], []))
        self.check(made)
        self.assertEqual({identity for ids in self.done().values() for identity in ids}, set(made))

        # Each resolution carries the token of a drainer that has said who it is.
        said = self.everything_said().splitlines()
        audits = [json.loads(line.split("audit:", 1)[1]) for line in said if line.startswith("forelock: audit:")]
        audits += [json.loads(line)["audit"] for line in said if line.startswith('{"audit":')]
        tokens = {audit["token"] for audit in audits}
        written = {int(record["payload"].split("@")[1]) for record in self.in_topic(self.topic + ".resolved")
                   if record["payload"]}
        self.assertEqual(written - tokens, set())
        self.assertGreaterEqual(len(written), 4)


class Away(OnCall, LettersTest):
    """From `ForelockDeadLettersUnreadable` to what it means: one click. The end of it: another one."""

    ANNA = "a" * 40

    def test_kafka_is_away_with_500_letters(self):
        broker = Broker()
        tokens = self.write("tokens", f"anna {self.ANNA}\n")
        os.chmod(tokens, 0o600)
        self.serve("--dead-letters", "--admin", tokens, "--audit-file", self.path("audit"))
        wait_until(lambda: self.number("forelock_dlq_readable") == 1, "the queue is read", 60)
        broker.kill()
        self.addCleanup(lambda: broker.away and broker.restart())
        made = self.give(self.letters_of(5, 100), "--outbox")
        wait_until(lambda: self.number("forelock_dlq_readable") == 0, "the alert", 120)
        wait_until(lambda: self.number("forelock_dlq_outbox_rows") == len(made), "they are counted", 120)
        # What the page shows of it: Kafka is away, and all of them are on the disk.
        response, body = self.request("/api/dead-letters")
        answer = json.loads(body)
        self.assertEqual((response.status, answer["error"]["code"]), (503, "kafka_unavailable"), answer)
        self.assertEqual((answer["outbox"]["rows"], answer["outbox"]["path"]), (len(made), self.outbox))
        # The same by a command.
        self.assertEqual(self.json_of("dlq", "stats", "--outbox")["letters"], len(made))
        broker.restart()
        token = {"Authorization": "Bearer " + self.ANNA}
        csrf = json.loads(self.request("/api/admin", **token)[1])["csrf"]

        def send():
            """What the button does: for some seconds each time."""
            answer = self.request("/api/outbox/forward", "POST", json.dumps({"reason": "Kafka is back"}),
                                  Content_Type="application/json", X_Forelock_CSRF=csrf, **token)[1]
            return json.loads(answer).get("waiting") == 0

        wait_until(send, "all of them are sent", 120)
        self.assertEqual(self.json_of("dlq", "stats")["letters"], len(made))
        self.assertEqual(sorted(self.ids("--limit", "1000")), sorted(made))
        wait_until(lambda: self.number("forelock_dlq_readable") == 1, "the alert ends", 120)
        wait_until(lambda: self.number("forelock_dlq_outbox_rows") == 0, "nothing is left", 120)
