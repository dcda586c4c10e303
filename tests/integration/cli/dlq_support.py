"""What the tests of operations and dead letters share: an outbox of their own, and ways to fill it."""

import base64
import json
import os
import sqlite3

import support


def checksum_of(*texts):
    """The outbox's checksum of a row: FNV-1a, each text ended by a byte that is none of UTF-8."""
    value = 0xCBF29CE484222325
    for byte in b"".join(text.encode() + b"\xff" for text in texts):
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value - (1 << 64) if value >> 63 else value


class DlqTest(support.CliTest):
    """An outbox of its own for each test; no Kafka."""

    RETRIES = 0

    def setUp(self):
        super().setUp()
        self.outbox = self.path("state/outbox.db")

    def command(self, *arguments, server=True):
        settings = ["--set", "dlq.outbox.path=" + self.outbox, "--set", f"elastic.request.retry.count={self.RETRIES}"]
        return super().command(*settings, *arguments, server=server)

    def operate(self, *options, script="exit 75", stdin=None, monitor="P1"):
        """Runs `sh -c SCRIPT` as an operation."""
        return self.run_cli("run", "--retry", "-m", monitor, *options, "--", "sh", "-c", script, stdin=stdin)

    def dead_letter(self, *options, monitor="P1", script="exit 75", stdin=None):
        """Makes a dead letter; its id."""
        result = self.operate("-o", "json", *options, monitor=monitor, script=script, stdin=stdin)
        self.assertEqual(result.returncode, 79, result.stderr)
        return self.error_of(result)["dead_letter"]["id"]

    def letters(self, *options):
        return self.json_of("dlq", "list", *options)["letters"]

    def ids(self, *options):
        return [letter["id"] for letter in self.letters(*options)]

    def record(self, identity):
        return self.json_of("dlq", "show", identity)

    def payload(self, identity):
        return base64.b64decode(self.record(identity)["payload"]["data"])

    def rewrite(self, identity, record):
        """Puts another record into a row, as if it had been stored so; its position."""
        monitor = self.letters("--id", identity)[0]["monitor"]
        with sqlite3.connect(self.outbox) as database:
            database.execute("UPDATE letter SET record = ?, checksum = ? WHERE id = ?",
                             (record, checksum_of(identity, monitor, record), identity))
            (position,) = database.execute("SELECT sequence FROM letter WHERE id = ?", (identity,)).fetchone()
        database.close()
        return str(position)

    def lines_of(self, name):
        if not os.path.exists(self.path(name)):
            return []
        with open(self.path(name), encoding="utf-8") as file:
            return file.read().splitlines()

    def json_lines(self, text):
        return [json.loads(line) for line in text.splitlines()]
