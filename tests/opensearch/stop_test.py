"""The end of a node, of a wrong configuration, and of the plugin."""

from cluster import Cluster, Holder, Later, signal, valid, wait_until

HELD = 50


def test_a_node_that_ends_answers_what_it_holds(node, server):
    """Nothing else than its end can answer them: they may wait for longer than the test."""
    node.create("ending")
    node.node_setting(background__timeout="1h")
    write = "/ending/_doc/1?timeout=1h"
    with Holder(server.address, "ending/1"):
        later = [Later(lambda: node.request("PUT", write, {"n": 1}, X_Forelock_Priority="background", timeout=600))
                 for _ in range(HELD)]
        wait_until(lambda: node.held() == HELD, "all are held")
        node.signal(signal.SIGTERM)
        answers = [one.get() for one in later]
        assert {(answer.status, answer.code) for answer in answers} == {(503, "closed")}
        for answer in answers:
            valid(answer.json, "refused_write")
        wait_until(lambda: not node.runs(), "the node has ended")
    wait_until(lambda: server.ephemeral_nodes() == 0, "no lock is left")


def test_the_plugin_can_be_removed_and_the_node_goes_on(node):
    assert node.script("revive").returncode == 0
    assert node.request("PUT", "/_all/_settings?expand_wildcards=all", {"index.forelock.*": None}).status == 200
    assert node.request("PUT", "/ending/_doc/2", {"n": 2}).status == 201
    node.signal(signal.SIGTERM)
    wait_until(lambda: not node.runs(), "the node has ended")
    assert node.tool("plugin", "list").split() == ["forelock"]
    node.tool("plugin", "remove", "--purge", "forelock")
    assert node.tool("plugin", "list").split() == []
    file = node.settings_file()
    file.write_text("".join(line for line in file.read_text().splitlines(True) if not line.startswith("forelock.")))
    result = node.script("revive")
    assert result.returncode == 0, result.stderr
    assert "forelock" not in node.request("GET", "/_cat/plugins").text
    assert node.request("GET", "/ending/_doc/2").json["_source"] == {"n": 2}
    assert node.request("PUT", "/ending/_doc/2", {"n": 3}).status == 200
    assert node.request("GET", "/_plugins/_forelock/stats").status in (400, 404), "nobody answers that"


def test_a_wrong_setting_stops_the_start(server):
    cluster = Cluster(server.address, "--set", "forelock.zookeeper.session.timeout=soon")
    try:
        assert cluster.result.returncode != 0
        assert "zookeeper.session.timeout: 'soon' is not a duration" in cluster.result.stderr, cluster.result.stderr
    finally:
        cluster.close()
