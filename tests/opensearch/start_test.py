"""A node that starts without ZooKeeper, and one whose configuration is in the plugin's file and in the keystore."""

import os
import re
import subprocess
from pathlib import Path

from cluster import HAS, Cluster, clean_environment, signal, wait_until

NOWHERE = "127.0.0.1:1"


def write(cluster):
    return cluster.request("PUT", "/started/_doc/1", {"n": 1})


def test_without_zookeeper_and_then_by_file_and_keystore(server):
    cluster = Cluster(NOWHERE)
    try:
        assert cluster.urls, "it starts without ZooKeeper: " + cluster.result.stderr
        status = cluster.stats()["zookeeper"]
        assert status["connected"] is False and NOWHERE in status["last_problem"], status
        log = Path(cluster.home, "node1", "output.log").read_text()
        assert re.search(r"\[WARN \].*o\.forelock.*" + re.escape(NOWHERE + ": Connection refused"), log), log
        cluster.create("started")
        answer = write(cluster)
        assert (answer.status, answer.code) == (503, "connection_loss"), answer.text
        cluster.signal(signal.SIGTERM)
        wait_until(lambda: not cluster.runs(), "it has ended")

        folder = cluster.configuration()
        settings = cluster.settings_file().read_text()
        cluster.settings_file().write_text(
            "".join(line for line in settings.splitlines(True) if "forelock." not in line)
            + ("forelock.engine.enabled: false\n" if "fencing" in HAS else ""))
        (folder / "forelock" / "elasticsearch-details.properties").write_text(
            f"zookeeper.servers={server.address}\nzookeeper.monitor.linger=3600000\n")
        cluster.add_secret("forelock.auth.digest", "search:secret")
        assert cluster.script("revive").returncode == 0
        wait_until(lambda: cluster.stats()["zookeeper"]["connected"], "it has the servers of the file")
        assert write(cluster).status == 201
        # What it has made is not for programs without those credentials.
        other = subprocess.run(
            [os.environ["FORELOCK_BINARY"], "--zookeeper", server.address, "run", "-m", "started/1", "--", "true"],
            env=clean_environment(), capture_output=True, text=True, check=False)
        assert other.returncode != 0, "it has the lock"
        assert write(cluster).status == 200
        # A promise that a node without the engine cannot keep.
        promise = {"index.forelock.fencing": True}
        promised = cluster.request("PUT", "/started/_settings", promise)
        if "fencing" not in HAS:
            assert promised.status == 400 and "has no engine of its own" in promised.text, promised.text
            return
        assert promised.status == 400 and "non dynamic" in promised.text, "an index has its engine from its opening on"
        assert cluster.request("POST", "/started/_close").status == 200
        assert cluster.request("PUT", "/started/_settings", promise).status == 200
        assert cluster.request("POST", "/started/_open?wait_for_active_shards=1").status == 200
        for method, path in (("PUT", "/started/_doc/1"), ("POST", "/started/_update/1")):
            answer = cluster.request(method, path, {"doc": {"n": 2}})
            assert answer.status == 400 and "forelock.engine.enabled" in answer.text, answer.text
    finally:
        cluster.close()
