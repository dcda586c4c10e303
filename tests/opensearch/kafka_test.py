"""Dead letters of a node on their way to a real broker, which asks for TLS and for a password from the keystore."""

import os
import subprocess

import pytest

from cluster import Cluster, Holder, bulk, needs, signal, wait_until

TOPIC = "letters-of-opensearch"


class Broker:
    """A Kafka broker as a child process (tests/integration/broker_host.cc)."""

    def __init__(self):
        self.process = subprocess.Popen(
            [os.environ["FORELOCK_BROKER_HOST"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        _, self.address, self.certificate, self.user, self.password = (self.line() for _ in range(5))

    def line(self):
        return self.process.stdout.readline().strip()

    def ask(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()
        return self.line()

    def records(self):
        return [self.line().split() for _ in range(int(self.ask("records " + TOPIC)))]

    def close(self):
        self.process.stdin.close()
        self.process.wait(30)


@pytest.fixture(name="broker")
def fixture_broker():
    if not os.environ.get("FORELOCK_BROKER_HOST"):
        pytest.skip("there is no broker")
    one = Broker()
    yield one
    one.close()


@needs("queue")
def test_letters_reach_the_broker(server, broker):
    assert broker.ask("topic " + TOPIC) == "ok"
    cluster = Cluster(server.address, "--set", "forelock.queue.mode=header", "--set", "forelock.queue.retries=0")
    try:
        assert cluster.urls, cluster.result.stderr
        cluster.signal(signal.SIGTERM)
        wait_until(lambda: not cluster.runs(), "it has ended")
        folder = cluster.configuration() / "forelock"
        with open(broker.certificate, encoding="ascii") as certificate:
            (folder / "broker.pem").write_text(certificate.read())
        (folder / "elasticsearch-details.properties").write_text(
            f"dlq.topic={TOPIC}\nkafka.bootstrap.servers={broker.address}\nkafka.security.protocol=SASL_SSL\n"
            f"kafka.ssl.ca.location={folder / 'broker.pem'}\nkafka.sasl.mechanism=PLAIN\n"
            f"kafka.sasl.username={broker.user}\n")
        with open(broker.password, encoding="ascii") as password:
            cluster.add_secret("forelock.kafka.sasl.password", password.read().strip())
        result = cluster.script("revive")
        assert result.returncode == 0, result.stderr
        cluster.create("sent")
        with Holder(server.address, "sent/1"):
            items = cluster.request("POST", "/sent/_bulk", bulk({"index": {"_id": "1"}}, {"n": 1}),
                                    X_Forelock_Priority="background", X_Forelock_Queue="true").json["items"]
            letter = items[0]["index"]["error"]["forelock_dead_letter"]
        assert items[0]["index"]["status"] == 202
        assert wait_until(broker.records, "it is in the topic") == [["sent/1", letter]]
    finally:
        cluster.close()
