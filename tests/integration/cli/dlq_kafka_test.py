"""forelock dlq and run --retry with a real Kafka broker: the topics, the outbox on the way there, draining."""

import json
import os
import signal
import subprocess
import tempfile
import unittest
import uuid

import dlq_support
import support
from serve_test import ServeTest

SCRIPT = os.path.join(os.environ.get("FORELOCK_SCRIPTS", "scripts"), "kafka.sh")
BROKER = {}


def setUpModule():  # pylint: disable=invalid-name
    directory = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(directory.cleanup)
    folder = os.path.join(directory.name, "broker")
    unittest.addModuleCleanup(subprocess.run, [SCRIPT, "stop", "--dir", folder], check=False, capture_output=True)
    started = subprocess.run([SCRIPT, "start", "--dir", folder], check=True, stdout=subprocess.PIPE, text=True)
    BROKER["address"] = started.stdout.split()[0]


class KafkaTest(dlq_support.DlqTest):
    """Topics of its own for each test."""

    def setUp(self):
        super().setUp()
        self.topic = "dlq-" + uuid.uuid4().hex[:12]
        self.broker = BROKER["address"]

    def command(self, *arguments, server=True):
        return super().command("--set", "kafka.bootstrap.servers=" + self.broker, "--set", "dlq.topic=" + self.topic,
                               *arguments, server=server)

    def init(self, *options):
        return self.json_of("dlq", "init", "--partitions", "3", *options)["topics"]

    def forward(self):
        """What `run` had no time to push is pushed."""
        return self.json_of("dlq", "forward", "--timeout", "1m")

    def kcat(self, *arguments):
        result = subprocess.run(["kcat", "-b", BROKER["address"], *arguments], check=True, capture_output=True,
                                text=True, timeout=support.PATIENCE)
        return result.stdout

    def in_topic(self, topic):
        """The records of a topic, by kcat."""
        return self.json_lines(self.kcat("-C", "-q", "-e", "-J", "-t", topic))


class Topics(KafkaTest):
    def test_init_makes_them_once(self):
        names = [self.topic, self.topic + ".parking", self.topic + ".resolved"]
        made = self.init("--replication", "1")
        self.assertEqual([(entry["topic"], entry["partitions"], entry["created"]) for entry in made],
                         [(names[0], 3, True), (names[1], 3, True), (names[2], 1, True)])
        again = self.json_of("dlq", "init", "--partitions", "5")["topics"]
        self.assertEqual([(entry["partitions"], entry["created"]) for entry in again],
                         [(3, False), (3, False), (1, False)])
        text = self.run_cli("dlq", "init").stdout
        self.assertEqual(text.count("exists already"), 3)
        listed = json.loads(self.kcat("-L", "-J"))["topics"]
        partitions = {entry["topic"]: len(entry["partitions"]) for entry in listed}
        self.assertEqual([partitions[name] for name in names], [3, 3, 1])

    def test_a_topic_that_is_missing_is_said(self):
        result = self.ends(69, "dlq", "list", "-o", "json")
        self.assertIn(self.topic, self.error_of(result)["message"])

    def test_more_replicas_than_brokers_are_refused(self):
        result = self.run_cli("dlq", "init", "--replication", "3", "-o", "json")
        self.assertNotEqual(result.returncode, 0)
        self.assertTrue(self.error_of(result)["code"].startswith("kafka_"))


    def test_settings_by_which_letters_get_lost_are_no_green_light(self):
        self.init()
        compacted = ("--set", "dlq.topic=" + self.topic + ".resolved")
        result = self.run_cli("dlq", "init", "-o", "json", *compacted)
        self.assertEqual((result.returncode, self.error_of(result)["code"]), (1, "topic_settings"), result.stdout)
        faults = {fault["setting"]: fault["value"] for fault in json.loads(result.stdout)["topics"][0]["faults"]}
        self.assertEqual(faults["cleanup.policy"], "compact")
        self.assertEqual(faults["retention.ms"], "604800000")
        text = self.run_cli("dlq", "init", *compacted)
        self.assertIn("retention.ms is 604800000, not -1", text.stderr)
        self.assertIn("dlq init --alter", text.stderr)
        self.assertEqual(len(self.json_of("dlq", "stats", *compacted)["topic_faults"]), len(faults))
        altered = self.json_of("dlq", "init", "--alter", *compacted)["topics"][0]
        self.assertTrue(altered["altered"])
        self.assertEqual(self.run_cli("dlq", "init", *compacted).returncode, 0)
        self.assertEqual(self.json_of("dlq", "stats", *compacted)["topic_faults"], [])


class Page(ServeTest, KafkaTest):
    def test_an_admin_sends_the_outbox_to_kafka(self):
        self.init()
        self.broker = "127.0.0.1:1"
        identity = self.dead_letter()
        self.broker = BROKER["address"]
        token = {"Authorization": "Bearer " + "a" * 40}
        tokens = self.write("tokens", "anna " + "a" * 40 + "\n")
        os.chmod(tokens, 0o600)
        self.serve("--dead-letters", "--admin", tokens, "--audit-file", self.path("audit"))
        csrf = json.loads(self.request("/api/admin", **token)[1])["csrf"]
        answer = json.loads(self.request("/api/outbox/forward", "POST", json.dumps({"reason": "Kafka is back"}),
                                         Content_Type="application/json", X_Forelock_CSRF=csrf, **token)[1])
        self.assertEqual((answer["forwarded"], answer["waiting"], answer["problem"]), (1, 0, None), answer)
        self.assertEqual((self.ids(), self.ids("--outbox")), ([identity], []))
        acts = self.json_of("audit", "--audit-file", self.path("audit"))["acts"]
        self.assertEqual([(act["action"], act["result"], act["reason"]) for act in acts],
                         [("forward", "begun", "Kafka is back"), ("forward", "forwarded 1", "Kafka is back")])


class OnTheWay(KafkaTest):
    RETRIES = 1

    def test_a_dead_letter_comes_into_the_topic(self):
        self.init()
        identity = self.dead_letter("--type", "saveContent", "--payload", "-", stdin="body", monitor="P1")
        self.forward()
        (found,) = self.in_topic(self.topic)
        self.assertEqual(found["key"], "P1")
        headers = dict(zip(found["headers"][::2], found["headers"][1::2]))
        self.assertEqual((headers["ce_id"], headers["dlq_reason"], headers["dlq_attempts"]), (identity, "exit_75", "2"))
        self.assertEqual(json.loads(found["payload"])["id"], identity)
        self.assertEqual(self.ids(), [identity])
        self.assertEqual(self.ids("--outbox"), [])
        self.assertEqual(self.payload(identity), b"body")
        stats = self.json_of("dlq", "stats")
        self.assertEqual((stats["letters"], stats["topic"], stats["outbox"]["rows"]), (1, self.topic, 0))

    def test_without_a_broker_it_waits_in_the_outbox(self):
        self.init()
        self.broker = "127.0.0.1:1"
        identity = self.dead_letter(monitor="P1")
        self.assertEqual(self.ids("--outbox"), [identity])
        self.assertEqual(self.record(identity)["id"], identity)  # found without asking Kafka
        self.assertEqual(self.run_cli("dlq", "list").returncode, 69)
        result = self.ends(69, "dlq", "forward", "--timeout", "300ms", "-o", "json")
        self.assertEqual(self.error_of(result)["code"], "kafka_unavailable")
        self.broker = BROKER["address"]
        self.assertEqual(self.forward(), {"forwarded": 1, "waiting": 0, "refused": 0, "topic": self.topic})
        self.assertEqual((self.ids(), self.ids("--outbox")), ([identity], []))
        self.assertIn("the outbox is empty", self.run_cli("dlq", "forward").stdout)

    def test_one_says_where_the_letter_is(self):
        self.init()
        for broker, place, text in ((BROKER["address"], "topic", "in the topic " + self.topic),
                                    ("127.0.0.1:1", "outbox", "forelock dlq forward")):
            self.broker = broker
            result = self.operate("-o", "json")
            self.assertEqual(self.error_of(result)["dead_letter"]["place"], place)
            self.assertIn(text, self.error_of(result)["message"])

    def test_a_forwarder_that_goes_on(self):
        self.init()
        forwarder = self.start_cli("dlq", "forward", "--follow")
        self.broker = "127.0.0.1:1"
        made = [self.dead_letter() for _ in range(2)]
        self.broker = BROKER["address"]
        support.wait_until(lambda: self.ids() == made, "they are in the topic")
        forwarder.send_signal(signal.SIGTERM)
        output, errors = forwarder.communicate(timeout=support.PATIENCE)
        self.assertEqual(forwarder.returncode, 0, errors)
        self.assertIn("forwarded 2 letters", output)

    @unittest.skipUnless(os.geteuid() == 0, "only root can be somebody else")
    def test_looking_as_an_ordinary_user(self):
        self.init()
        identity = self.dead_letter()
        self.forward()
        as_user = {"user": 65534, "group": 65534, "capture_output": True, "text": True, "check": False}
        os.chmod(self.directory.name, 0o711)
        for arguments in (("list",), ("stats",), ("show", identity), ("watch", "--count", "1")):
            result = subprocess.run(self.command("dlq", *arguments), env=support.clean_environment(HOME="/nowhere"),
                                    timeout=60, **as_user)
            self.assertEqual(result.returncode, 0, result.stderr)
            if arguments == ("stats",):
                self.assertIn("not readable by user 65534", result.stdout)
        stats = subprocess.run(self.command("dlq", "stats", "-o", "json"), env=support.clean_environment(), timeout=60,
                               **as_user)
        self.assertIsNone(json.loads(stats.stdout)["outbox"])

    def test_unknown_kafka_keys_are_78(self):
        result = self.ends(78, "dlq", "list", "--set", "kafka.no.such.key=1", "-o", "json")
        self.assertIn("no.such.key", json.dumps(self.error_of(result)))


class Draining(KafkaTest):
    def fill(self, *monitors):
        self.init()
        made = [self.dead_letter("--type", "save", monitor=monitor) for monitor in monitors]
        self.forward()
        return made

    def replay(self, *options, code=0):
        result = self.run_cli("dlq", "replay", "--execute", "-o", "json", *options)
        self.assertEqual(result.returncode, code, result.stderr)
        return json.loads(result.stdout)

    def test_replayed_letters_are_gone_and_nothing_is_deleted(self):
        first, second, third = self.fill("P1", "P2", "P1")
        self.assertEqual(self.replay("--exec", "true", "--monitor", "P1")["replayed"], 2)
        self.assertEqual(self.ids(), [second])
        self.assertEqual(len(self.in_topic(self.topic)), 3)
        self.assertEqual({entry["key"].split("@")[0] for entry in self.in_topic(self.topic + ".resolved")},
                         {first, third})
        self.assertEqual(self.run_cli("dlq", "show", first).returncode, 1)
        self.assertEqual(self.replay("--exec", "true")["replayed"], 1)
        self.assertEqual(self.ids(), [])

    def test_poison_goes_to_the_parking_topic(self):
        poison, other = self.fill("P1", "P2")
        command = f"[ $FORELOCK_DLQ_ID != {poison} ]"
        self.assertEqual(self.replay("--exec", command, "--max-replays", "1", code=1)["parked"], 1)
        self.assertEqual((self.ids(), self.ids("--parked")), ([], [poison]))
        self.assertEqual([json.loads(found["payload"])["id"] for found in self.in_topic(self.topic + ".parking")],
                         [poison])
        self.assertEqual(self.json_of("dlq", "purge", "--parked", "--all", "--yes")["purged"], 1)
        self.assertEqual(self.ids("--parked"), [])
        self.assertEqual(self.run_cli("dlq", "show", other).returncode, 1)

    def test_a_drainer_that_wakes_up_late_changes_nothing(self):
        (identity,) = self.fill("P1")
        session = ("--set", "zookeeper.session.timeout=2000")
        begun, go_on = self.path("begun"), self.path("go-on")
        late = self.start_cli("dlq", "replay", "--execute", "--exec",
                              f"touch {begun}; while ! [ -e {go_on} ]; do sleep 0.05; done; exit 1", *session)
        support.wait_until(lambda: os.path.exists(begun), "the command runs")
        late.send_signal(signal.SIGSTOP)
        support.wait_until(lambda: not self.holder("forelock-dlq-topic-" + self.topic), "its session ends")
        self.assertEqual(self.replay("--exec", "false", "--max-replays", "1", *session, code=1)["parked"], 1)
        self.assertEqual((self.ids(), self.ids("--parked")), ([], [identity]))
        self.write("go-on", "")
        late.send_signal(signal.SIGCONT)
        _, errors = late.communicate(timeout=support.PATIENCE)
        self.assertEqual(late.returncode, 76, errors)
        self.assertEqual((self.ids(), self.ids("--parked")), ([], [identity]))
        self.assertEqual(self.record(identity)["state"], "parked")

    def test_an_id_that_is_used_again_is_another_letter(self):
        self.init()
        for body in ("first", "second"):
            self.dead_letter("--id", "nightly-export", "--payload", "-", stdin=body)
            self.forward()
            self.assertEqual(self.ids(), ["nightly-export"], body)
            self.assertEqual(self.payload("nightly-export"), body.encode())
            self.assertEqual(self.replay("--exec", "true")["replayed"], 1)
        self.assertEqual(self.ids(), [])

    def test_into_another_topic(self):
        (identity,) = self.fill("P1")
        target = self.topic + "-work"
        self.assertEqual(self.run_cli("dlq", "init", "--set", "dlq.topic=" + target).returncode, 0)
        self.assertEqual(self.replay("--to-topic", target)["replayed"], 1)
        (found,) = self.in_topic(target)
        record = json.loads(found["payload"])
        self.assertEqual((found["key"], record["id"], record["replay_count"]), ("P1", identity, 1))
        self.assertEqual(self.ids(), [])

    def test_a_second_signal_ends_at_once_what_waits_for_kafka(self):
        (identity,) = self.fill("P1")
        # A topic that does not exist is waited for.
        child = self.start_cli("dlq", "replay", "--execute", "--to-topic", self.topic + "-missing")
        support.wait_until(lambda: self.holder("P1"), "the letter is on its way")
        child.send_signal(signal.SIGINT)
        while "a second signal" not in child.stderr.readline():
            self.assertIsNone(child.poll())
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate(timeout=10)  # a letter is given 30 s
        self.assertEqual(child.returncode, 130, errors)
        self.assertIn("the next replay retries", errors)
        support.wait_until(lambda: not self.holder("P1"), "its locks are free")
        self.assertEqual(self.ids(), [identity])
        self.assertEqual(self.replay("--exec", "true")["replayed"], 1)

    def test_not_into_the_queue_itself(self):
        self.fill("P1")
        for topic in (self.topic, self.topic + ".parking", self.topic + ".resolved"):
            result = self.run_cli("dlq", "replay", "--execute", "--to-topic", topic)
            self.assertEqual((result.returncode, result.stdout), (64, ""), result.stderr)

    def test_parking_and_purging_by_id(self):
        first, second = self.fill("P1", "P1")
        self.assertEqual(self.json_of("dlq", "park", first)["parked"], 1)
        self.assertEqual(self.json_of("dlq", "purge", second, "--yes")["purged"], 1)
        self.assertEqual((self.ids(), self.ids("--parked")), ([], [first]))

    def test_the_way_back(self):
        first, second = self.fill("P1", "P1")
        self.assertEqual(self.json_of("dlq", "park", first)["parked"], 1)
        self.assertEqual(self.json_of("dlq", "unpark", first)["restored"], 1)
        self.assertEqual((self.ids(), self.ids("--parked")), ([second, first], []))
        kept = self.path("letters.ndjson")
        self.assertEqual(self.run_cli("dlq", "export", "--output", kept).returncode, 0)
        self.assertEqual(self.json_of("dlq", "purge", "--all", "--yes")["purged"], 2)
        self.assertEqual(self.ids(), [])
        self.assertEqual(self.json_of("dlq", "import", kept, "--execute")["restored"], 2)
        self.assertEqual(self.ids(), [second, first])
        self.assertEqual(self.replay("--exec", "true")["replayed"], 2)
        self.assertEqual(self.ids(), [])

    def test_export_has_the_records_of_the_topic(self):
        made = self.fill("P1", "P2")
        records = self.json_lines(self.run_cli("dlq", "export").stdout)
        self.assertEqual({record["id"] for record in records}, set(made))

    def test_records_that_are_no_letters_stay_and_can_be_purged(self):
        self.fill("P1")
        subprocess.run(["kcat", "-b", BROKER["address"], "-P", "-t", self.topic, "-p", "0", "-k", "P9"],
                       input="no letter", text=True, check=True)
        found = self.letters()
        (unreadable,) = [letter for letter in found if letter.get("unreadable")]
        self.assertEqual((unreadable["code"], unreadable["monitor"]), ("record_invalid", "P9"))
        report = self.replay("--exec", "true")
        self.assertEqual((report["replayed"], report["unreadable"]), (1, 1))
        self.assertEqual(self.json_of("dlq", "purge", unreadable["position"], "--yes")["unreadable"], 1)
        self.assertEqual(self.letters(), [])
