"""Spans of locks as OTLP/JSON: what forelock run writes, whose trace they are part of, and what it hands on.

With FORELOCK_OTLP_DECODER the collector's own decoder reads the same lines, too (tests/otlp).
"""

import json
import os
import subprocess
import threading
import time
import unittest

import support

TRACE = "0af7651916cd43dd8448eb211c80319c"
CALLER = f"00-{TRACE}-b7ad6b7169203331-01"
UNSAMPLED = f"00-{TRACE}-b7ad6b7169203331-00"


def value_of(attribute):
    (kind, value), = attribute["value"].items()
    return int(value) if kind == "intValue" else value


def read_line(line):
    """The one span of a line, flat."""
    resource, = json.loads(line)["resourceSpans"]
    scope, = resource["scopeSpans"]
    span, = scope["spans"]
    return {"resource": {a["key"]: value_of(a) for a in resource["resource"]["attributes"]},
            "scope": scope["scope"]["name"] + " " + scope["scope"]["version"],
            "name": span["name"], "kind": {1: "Internal", 3: "Client"}[span["kind"]],
            "trace": span["traceId"], "id": span["spanId"], "parent": span.get("parentSpanId", ""),
            "flags": span["flags"], "begin": int(span["startTimeUnixNano"]), "end": int(span["endTimeUnixNano"]),
            "status": {0: "Unset", 2: "Error"}[span.get("status", {"code": 0})["code"]],
            "message": span.get("status", {}).get("message", ""),
            "attributes": {a["key"]: value_of(a) for a in span["attributes"]}}


class TraceTest(support.CliTest):
    def setUp(self):
        super().setUp()
        self.file = self.path("spans.jsonl")

    def traced(self, *arguments, **environment):
        return self.run_cli("--set", f"zookeeper.trace.file={self.file}", *arguments, **environment)

    def spans(self):
        """All of the file, as a collector reads it."""
        if not os.path.exists(self.file):
            return []
        with open(self.file, encoding="utf-8") as file:
            text = file.read()
        self.assertTrue(text.endswith("\n"))
        spans = [read_line(line) for line in text.splitlines()]
        if decoder := os.environ.get("FORELOCK_OTLP_DECODER"):
            result = subprocess.run([decoder], input=text, capture_output=True, text=True, check=False)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual([json.loads(line) for line in result.stdout.splitlines()], spans)
        return spans

    def test_a_run_is_two_spans_of_its_callers_trace(self):
        before = time.time_ns()
        result = self.traced("run", "-m", "Müller/1", "-p", "background", "--info", "secret", "--", "sh", "-c",
                             "echo $TRACEPARENT $FORELOCK_TOKEN", TRACEPARENT=CALLER, OTEL_SERVICE_NAME="articles")
        self.assertEqual(result.returncode, 0, result.stderr)
        handed_on, token = result.stdout.split()
        acquisition, hold = self.spans()
        self.assertEqual([acquisition["name"], hold["name"]], ["forelock.acquire", "forelock.hold"])
        self.assertEqual([acquisition["kind"], hold["kind"]], ["Client", "Internal"])
        for span in acquisition, hold:
            self.assertEqual((span["trace"], span["parent"], span["flags"]), (TRACE, CALLER.split("-")[2], 1))
            self.assertEqual(span["resource"]["service.name"], "articles")
            self.assertRegex(span["resource"]["service.instance.id"], r"/\d+$")
            self.assertRegex(span["scope"], r"^forelock \d+\.\d+\.\d+$")
            self.assertEqual((span["status"], span["message"]), ("Unset", ""))
            self.assertEqual(span["attributes"]["forelock.priority"], "background")
            self.assertEqual(span["attributes"]["forelock.token"], int(token))
            self.assertLess(before, span["begin"])
            self.assertLessEqual(span["begin"], span["end"])
            self.assertLess(span["end"], time.time_ns())
        self.assertEqual(acquisition["attributes"]["forelock.outcome"], "granted")
        self.assertTrue(acquisition["attributes"]["forelock.proof"])
        self.assertEqual(hold["attributes"]["forelock.outcome"], "released")
        self.assertEqual(handed_on, f"00-{TRACE}-{hold['id']}-01", "what the command does is part of the hold")
        with open(self.file, encoding="utf-8") as file:
            text = file.read()
        self.assertNotIn("secret", text)
        self.assertNotIn("ller", text, "the monitor is named only if that is asked for")

    def test_names_the_monitor_if_asked_to(self):
        self.traced("--set", "zookeeper.trace.monitors=true", "run", "-m", "Müller/1", "--info", "why", "--", "true")
        for span in self.spans():
            self.assertEqual(span["attributes"]["forelock.monitor"], "Müller/1")
            self.assertEqual(span["attributes"]["forelock.info"], "why")

    def test_without_a_caller_it_begins_a_trace(self):
        for traceparent in "", "nonsense":
            self.traced("run", "-m", "P1", "--", "true", TRACEPARENT=traceparent)
        first, first_hold, second, _ = self.spans()
        self.assertEqual((first["parent"], first_hold["parent"]), ("", first["id"]))
        self.assertEqual(first_hold["trace"], first["trace"])
        self.assertNotEqual(second["trace"], first["trace"])

    def test_a_trace_that_is_not_sampled_is_handed_on_as_it_is(self):
        result = self.traced("run", "-m", "P1", "--", "sh", "-c", "echo $TRACEPARENT", TRACEPARENT=UNSAMPLED)
        self.assertEqual(result.stdout, UNSAMPLED + "\n")
        self.assertEqual(self.spans(), [])

    def test_off_by_default_and_what_is_around_is_handed_on(self):
        result = self.run_cli("run", "-m", "P1", "--", "sh", "-c", "echo $TRACEPARENT", TRACEPARENT=CALLER)
        self.assertEqual(result.stdout, CALLER + "\n")
        self.assertEqual(self.spans(), [])

    def test_who_does_not_get_it_says_why(self):
        self.hold("P1")
        self.assertEqual(self.traced("run", "-m", "P1", "--timeout", "200ms", "--", "true").returncode, 75)
        span, = self.spans()
        self.assertEqual((span["status"], span["message"]), ("Error", "timed_out"))
        self.assertEqual(span["attributes"]["forelock.outcome"], "timed_out")
        self.assertGreaterEqual(span["end"] - span["begin"], 150_000_000, "it begins after its deadline was set")

    def test_a_lock_that_is_taken_away(self):
        holder = self.hold("P1", "--set", f"zookeeper.trace.file={self.file}", script="echo ready; exec sleep 60")
        self.run_cli("release", "P1", "--holder", self.holder("P1")["node"], "--reason", "test")
        self.assertEqual(holder.wait(support.PATIENCE), 76)
        acquisition, hold = self.spans()
        self.assertEqual(acquisition["attributes"]["forelock.outcome"], "granted")
        self.assertEqual((hold["status"], hold["message"]), ("Error", "removed"))

    def test_a_set_is_one(self):
        result = self.traced("run", "-m", "P2", "-m", "P1", "--", "sh", "-c", "echo $TRACEPARENT", TRACEPARENT=CALLER)
        acquisition, hold = self.spans()
        self.assertEqual(acquisition["attributes"]["forelock.members"], 2)
        self.assertEqual(result.stdout, f"00-{TRACE}-{hold['id']}-01\n")

    def test_an_operations_attempts_are_spans_of_its_trace(self):
        outbox = f"dlq.outbox.path={self.path('outbox.db')}"
        result = self.traced("--set", outbox, "--set", "elastic.request.retry.count=1", "run", "--retry", "-m", "P1",
                             "--", "sh", "-c", "exit 75", TRACEPARENT=CALLER)
        self.assertEqual(result.returncode, 79, result.stderr)
        self.assertEqual([(s["name"], s["trace"]) for s in self.spans()],
                         [("forelock.acquire", TRACE), ("forelock.hold", TRACE)] * 2)

    def test_a_file_that_cannot_be_written_costs_spans_alone(self):
        self.file = self.path("no/such/folder")
        result = self.traced("-v", "run", "-m", "P1", "--", "true")
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stderr.count("spans are lost"), 1, result.stderr)
        self.assertIn("No such file or directory", result.stderr)

    def test_a_pipe_without_a_reader_delays_nothing(self):
        os.mkfifo(self.file)
        self.assertEqual(self.traced("run", "-m", "P1", "--", "true").returncode, 0)

    def test_processes_share_a_file(self):
        runs = [threading.Thread(target=self.traced, args=("run", "-m", f"P{i}", "--", "true")) for i in range(8)]
        for run in runs:
            run.start()
        for run in runs:
            run.join()
        self.assertEqual(len(self.spans()), 16)
        self.assertEqual(os.stat(self.file).st_mode & 0o777 & ~0o640, 0)


if __name__ == "__main__":
    unittest.main()
