"""The end of a node, of a wrong configuration, and of the plugin."""

import os
import subprocess

from cluster import Cluster, Holder, Later, clean_environment, signal, wait_until

HELD = 50


def test_a_node_that_ends_answers_what_it_holds(node, server):
    node.create("ending")
    with Holder(server.address, "ending/1"):
        later = [Later(lambda: node.request("PUT", "/ending/_doc/1", {"n": 1}, X_Forelock_Priority="background"))
                 for _ in range(HELD)]
        wait_until(lambda: node.held() == HELD, "all are held")
        node.signal(signal.SIGTERM)
        answers = [one.get() for one in later]
        assert {(answer.status, answer.code) for answer in answers} == {(503, "closed")}
        wait_until(lambda: not node.runs(), "the node has ended")
    wait_until(lambda: server.ephemeral_nodes() == 0, "no lock is left")


def test_the_plugin_can_be_removed(node):
    tool = [os.path.join(node.home, "home", "bin", "opensearch-plugin")]
    if os.geteuid() == 0:
        tool = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] + tool

    def run(*arguments):
        result = subprocess.run(
            tool + list(arguments), env=clean_environment(HOME=node.home, JAVA_HOME=node.java_home),
            capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stderr
        return result.stdout

    assert run("list").split() == ["forelock"]
    run("remove", "--purge", "forelock")
    assert run("list").split() == []


def test_a_wrong_setting_stops_the_start(server):
    cluster = Cluster(server.address, "--set", "forelock.zookeeper.session.timeout=soon")
    try:
        assert cluster.result.returncode != 0
        assert "zookeeper.session.timeout: 'soon' is not a duration" in cluster.result.stderr, cluster.result.stderr
    finally:
        cluster.close()
