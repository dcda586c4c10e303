"""
A node whose ZooKeeper takes nobody without TLS, a certificate and a password: what is secret is in the node's keystore,
the rest are settings. The work is the demonstration's: saves that go before a bulk job, and dead letters that are
replayed.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from cluster import HAS, Cluster, Holder, Later, Server, bulk, clean_environment, needs, signal, wait_until

NOWHERE = "127.0.0.1:1"
KEY_PASSWORD = "open sesame"


class Secured:
    """The node, and what the command needs beside it."""

    def __init__(self):
        self.host = Server("sasl")
        (_, self.address, authority, certificate, key, password, wrong) = self.host.address.split()
        self.password = Path(password).read_text().strip()
        self.wrong = Path(wrong).read_text().strip()
        queue = ["--set", "forelock.queue.mode=header", "--set", "forelock.queue.retries=0"] if "queue" in HAS else []
        self.node = Cluster(NOWHERE, *queue)
        assert self.node.urls, self.node.result.stderr
        self.stop()
        self.given = {"ca.pem": authority, "client.pem": certificate, "client.key": key, "user.password": password}
        settings = self.provide(self.node.configuration() / "forelock", 65534)
        self.config = self.node.configuration() / "forelock" / "command.properties"
        own = Path(self.node.folder, "own")
        own.mkdir()
        self.provide(own, 0)
        self.own_config = own / "command.properties"
        lines = self.node.settings_file().read_text().splitlines(True)
        self.node.settings_file().write_text(
            "".join(line for line in lines if "forelock.zookeeper." not in line)
            + "".join(f"forelock.{name}: {value}\n" for name, value in settings.items()))
        self.node.add_secret("forelock.sasl.password", self.password)
        self.node.add_secret("forelock.tls.key.password", KEY_PASSWORD)
        self.start()

    def provide(self, folder, user):
        """Files of that user alone, and a configuration that names them; the settings that are no secrets."""
        for name, file in self.given.items():
            shutil.copy(file, folder / name)
        subprocess.run(["openssl", "pkcs8", "-topk8", "-in", self.given["client.key"], "-out", folder / "client.key",
                        "-passout", "pass:" + KEY_PASSWORD], check=True)
        (folder / "key.password").write_text(KEY_PASSWORD + "\n")
        settings = {
            "zookeeper.servers": self.address, "zookeeper.tls.ca.file": folder / "ca.pem",
            "zookeeper.tls.certificate.file": folder / "client.pem", "zookeeper.tls.key.file": folder / "client.key",
            "zookeeper.sasl.mechanism": "DIGEST-MD5", "zookeeper.sasl.user": "alice"}
        secrets = {"zookeeper.sasl.password.file": folder / "user.password",
                   "zookeeper.tls.key.password.file": folder / "key.password"}
        (folder / "command.properties").write_text(
            "".join(f"{name}={value}\n" for name, value in {**settings, **secrets}.items()))
        for file in folder.iterdir():
            os.chmod(file, 0o600)
            if os.geteuid() == 0:
                os.chown(file, user, user)
        return settings

    def start(self):
        result = self.node.script("revive")
        assert result.returncode == 0, result.stderr
        wait_until(lambda: self.node.stats()["zookeeper"]["connected"], "it has the servers")

    def stop(self):
        self.node.signal(signal.SIGTERM)
        wait_until(lambda: not self.node.runs(), "it has ended")

    def holder(self, monitor):
        return Holder(None, monitor, config=self.own_config)

    def command(self, *arguments, outbox=None, **more):
        """As the node's user."""
        other = {"user": 65534, "group": 65534} if os.geteuid() == 0 else {}
        where = ["--set", f"dlq.outbox.path={outbox}"] if outbox else []
        return subprocess.run([os.environ["FORELOCK_BINARY"], "--config", self.config, *where, *arguments],
                              env=clean_environment(HOME=self.node.home), capture_output=True, text=True, timeout=120,
                              check=False, **other, **more)

    def close(self):
        self.node.close()
        self.host.close()


@pytest.fixture(scope="module", name="secured")
def fixture_secured():
    one = Secured()
    yield one
    one.close()


def test_saves_go_before_a_bulk_job(secured):
    node = secured.node
    node.create("articles")
    node.node_setting(foreground__timeout="50s", background__timeout="50s")  # 2 s are short on a busy machine
    job = [line for i in range(200) for line in ({"index": {"_id": f"bulk-{i}"}}, {"n": i})]
    with secured.holder("articles/bulk-7") as holder:
        bulks = Later(lambda: node.request("POST", "/articles/_bulk", bulk(*job), X_Forelock_Priority="background"))
        wait_until(lambda: node.held() == 1, "the job waits for what another program has locked")
        save = Later(lambda: node.request("PUT", "/articles/_doc/bulk-7", {"n": -1}))
        wait_until(lambda: node.held() == 2, "and so does a save of the same article")
        assert node.request("PUT", "/articles/_doc/other", {"n": 1}).status == 201, "no other save waits"
        holder.let_go()
        assert save.get().status in (200, 201)
        items = bulks.get().json["items"]
    assert {item["index"]["status"] for item in items} <= {200, 201}
    assert node.request("GET", "/articles/_doc/bulk-7").json["_source"] == {"n": 7}, "the job's is the later write"
    assert node.stats()["unguarded_writes"] == 0


def test_letters_are_replayed(secured, tmp_path):
    """One that the command has made: on each engine."""
    node = secured.node
    node.create("replayed")
    if os.geteuid() == 0:
        os.chown(tmp_path, 65534, 65534)
        for folder in (tmp_path.parent, tmp_path.parent.parent):
            os.chmod(folder, 0o755)
    outbox = tmp_path / "outbox.db"
    write = {"schema": 1, "op": "index", "index": "replayed", "id": "1", "source": json.dumps({"n": 1})}
    made = secured.command("--set", "elastic.request.retry.count=0", "run", "--retry", "-m", "replayed/1", "--type",
                           "opensearch_write", "--payload", "-", "--", "sh", "-c", "exit 75", outbox=outbox,
                           input=json.dumps(write))
    assert made.returncode == 79, made.stderr
    result = secured.command("dlq", "replay", "--to-opensearch", node.urls[0], "--execute", "-o", "json",
                             outbox=outbox)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["replayed"] == 1
    assert node.request("GET", "/replayed/_doc/1").json["_source"] == {"n": 1}


@needs("queue")
def test_the_node_itself_queues(secured):
    node = secured.node
    node.create("queued")
    node.node_setting(background__timeout="700ms")
    outbox = Path(node.home, "node1", "data", "nodes", "0", "forelock", "outbox.db")
    with secured.holder("queued/1"):
        items = node.request("POST", "/queued/_bulk", bulk({"index": {"_id": "1"}}, {"n": 1}),
                             X_Forelock_Priority="background", X_Forelock_Queue="true").json["items"]
        assert items[0]["index"]["status"] == 202, items
    result = secured.command("dlq", "replay", "--to-opensearch", node.urls[0], "--execute", "-o", "json",
                             outbox=outbox)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["replayed"] == 1
    assert node.request("GET", "/queued/_doc/1").json["_source"] == {"n": 1}


def test_secrets_of_the_keystore_are_in_no_file(secured):
    given = {"user.password", "key.password"}  # the command's
    for file in Path(secured.node.home, "node1").rglob("*"):
        if file.name in given or not file.is_file():
            continue
        try:
            text = file.read_bytes()
        except FileNotFoundError:  # the node runs, and removes some
            continue
        assert secured.password.encode() not in text and KEY_PASSWORD.encode() not in text, file


def test_secrets_are_in_no_log_and_are_read_for_each_connection(secured):
    node = secured.node
    assert secured.wrong != secured.password
    secured.stop()
    node.add_secret("forelock.sasl.password", secured.wrong)
    result = node.script("revive")
    assert result.returncode == 0, result.stderr
    wait_until(lambda: "refuses this client's credentials" in node.stats()["zookeeper"]["last_problem"], "refused")
    node.create("refused")
    answer = node.request("PUT", "/refused/_doc/1", {"n": 1})
    assert answer.status >= 400 and answer.code == "not_authorized", answer.text
    secured.stop()
    node.add_secret("forelock.sasl.password", secured.password)
    secured.start()
    text = node.log()
    for secret in (secured.password, secured.wrong, KEY_PASSWORD):
        assert secret not in text
