"""A node that was started without the plugin, by accident; and the plugin's removal as it is documented."""

import json
import re

from cluster import ROOT, Cluster, Holder, signal, valid, wait_until


class Plugin:
    """What an operator does to a node that has ended."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.file = cluster.settings_file()
        self.with_it = self.file.read_text()

    def restart(self, present):
        self.cluster.signal(signal.SIGTERM)
        wait_until(lambda: not self.cluster.runs(), "it has ended")
        if present:
            self.file.write_text(self.with_it)
            self.cluster.tool("plugin", "install", "--batch", f"file://{self.cluster.home}/plugin.zip")
        else:
            self.file.write_text("".join(line for line in self.with_it.splitlines(True) if "forelock." not in line))
            self.cluster.tool("plugin", "remove", "forelock")
        revived = self.cluster.script("revive")
        assert revived.returncode == 0, revived.stderr


def health(cluster):
    stats = valid(cluster.request("GET", "/_plugins/_forelock/stats").json, "stats")
    return next(iter(stats["nodes"].values()))["health"]


def removal_commands():
    """Each request of the guide: method, path, body."""
    guide = (ROOT / "docs" / "opensearch.md").read_text().partition("## Removal")[2].partition("\n## ")[0]
    return re.findall(r"^(PUT|POST|DELETE) (\S+)\n(\{.*\})$", guide, re.MULTILINE)


def test_a_start_without_the_plugin_and_its_removal(server):
    cluster = Cluster(server.address)
    try:
        assert cluster.urls, cluster.result.stderr
        plugin = Plugin(cluster)
        cluster.create("kept", **{"forelock.monitor": "id"})
        assert health(cluster) == {"status": "green", "problems": []}
        plugin.restart(present=False)
        assert cluster.request("PUT", "/kept/_doc/P1", {"n": 1}).status == 201, "nothing guards it"
        plugin.restart(present=True)
        wait_until(lambda: cluster.stats()["zookeeper"]["connected"], "it is there again")
        with Holder(server.address, "P1"):
            answer = cluster.request("PUT", "/kept/_doc/P1?timeout=300ms", {"n": 2})
            assert (answer.status, answer.code) == (429, "lock_timeout"), answer.text
        found = health(cluster)
        assert found["status"] == "red" and "archived.index.forelock.enabled" in found["problems"][0], found
        assert re.search(r"\[WARN \].*the index \[kept\] was started without the plugin", cluster.log())
        assert cluster.request("POST", "/kept/_close").status == 200
        settings = {"archived.index.forelock.*": None, "index.forelock.enabled": True, "index.forelock.monitor": "id"}
        answer = cluster.request("PUT", "/kept/_settings", settings)
        assert answer.status == 200, answer.text
        assert cluster.request("POST", "/kept/_open").status == 200
        assert health(cluster) == {"status": "green", "problems": []}

        answer = cluster.request("PUT", "/_cluster/settings", {"persistent": {"forelock.on_unavailable": "allow"}})
        assert answer.status == 200, answer.text
        commands = removal_commands()
        assert len(commands) >= 2
        for method, path, body in commands:
            answer = cluster.request(method, path, json.loads(body))
            assert answer.status == 200, answer.text
        plugin.restart(present=False)
        answer = cluster.request("PUT", "/_cluster/settings", {"persistent": {"cluster.max_shards_per_node": 900}})
        assert answer.status == 200, answer.text
        assert "forelock" not in cluster.request("GET", "/kept/_settings").text
        assert "forelock" not in cluster.request("GET", "/_cluster/settings").text
        assert cluster.request("PUT", "/kept/_doc/P1", {"n": 3}).status == 200
    finally:
        cluster.close()
