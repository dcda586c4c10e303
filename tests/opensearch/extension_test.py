"""Plugins of others that take locks in the session of the node: the example of the documentation, and a bad one."""

import re
import subprocess
import zipfile
from pathlib import Path

import pytest

from cluster import BUILD, ENGINE, ROOT, SCRIPT, VERSION, Cluster, Holder, Later, needs, wait_until

CLIENTS = 8
VIEWS = 10
EXAMPLE = ROOT / "examples" / f"{ENGINE}_plugin"
JAVA = "21" if int(VERSION.split(".")[0]) >= {"elasticsearch": 9, "opensearch": 3}[ENGINE] else "17"
COMMON = ROOT / "examples" / "opensearch_plugin"  # what knows no search engine is there for both


def compiler():
    """The newest one: the classes of a node may be newer than the default one reads."""
    found = {int(match.group()): path for path in Path("/usr/lib/jvm").glob("*/bin/javac")
             if (match := re.search(r"\d+", path.parents[1].name))}
    return str(found[max(found)])


def build(folder, name, sources, plugin_class, extension_class=None):
    """
    A plugin's zip, made of nothing but its sources, the node's jars and ours. Without an extension it is one that
    carries the jar and the library itself.
    """
    classes = folder / name
    jars = [f"{ROOT}/build/{ENGINE}/lib/{VERSION}/lib/*", f"{BUILD}/opensearch/java/forelock-0.1.0.jar",
            f"{BUILD}/opensearch/search/forelock-search-0.1.0.jar"]
    subprocess.run([compiler(), "--release", JAVA, "-d", str(classes), "-cp", ":".join(jars), *map(str, sources)],
                   check=True)
    with zipfile.ZipFile(folder / f"{name}.jar", "w") as jar:
        for file in classes.rglob("*.class"):
            jar.write(file, file.relative_to(classes))
        if extension_class:
            jar.writestr("META-INF/services/org.forelock.search.ForelockExtension", extension_class + "\n")
    descriptor = (EXAMPLE / "plugin-descriptor.properties").read_text()
    for old, new in ((f"@{ENGINE}.version@", VERSION), ("name=views", f"name={name}"),
                     ("java.version=17", f"java.version={JAVA}"), ("example.views.ViewsPlugin", plugin_class)):
        assert old in descriptor
        descriptor = descriptor.replace(old, new)
    if not extension_class:
        descriptor = descriptor.replace("extended.plugins=forelock\n", "")
    with zipfile.ZipFile(folder / f"{name}.zip", "w") as plugin:
        plugin.write(folder / f"{name}.jar", f"{name}.jar")
        plugin.writestr("plugin-descriptor.properties", descriptor)
        if not extension_class:
            policy = (ROOT / "opensearch" / "src" / "main" / "plugin" / "plugin-security.policy").read_text()
            place = "plugins${/}forelock${/}"
            assert place in policy
            plugin.writestr("plugin-security.policy", policy.replace(place, f"plugins${{/}}{name}${{/}}"))
            for file in (jars[1], f"{BUILD}/java/native/libforelock_jni.so"):
                plugin.write(file, Path(file).name)
    return ["--plugin", str(folder / f"{name}.zip")]


@pytest.fixture(scope="module")
def node(server, tmp_path_factory):
    built = subprocess.run(
        [SCRIPT, "build", "--version", VERSION, "--from", BUILD], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    folder = tmp_path_factory.mktemp("plugins")
    service = (COMMON / "META-INF" / "services" / "org.forelock.search.ForelockExtension").read_text().strip()
    sources = {*EXAMPLE.glob("*.java"), COMMON / "ViewsExtension.java"}
    views = build(folder, "views", sources, "example.views.ViewsPlugin", service)
    waiting = []
    if ENGINE == "opensearch":
        waiting = build(folder, "waiting", [Path(__file__).with_name("Waiting.java")], "waiting.Waiting",
                        "waiting.Waiting$Extension")
        waiting += build(folder, "carrying", [Path(__file__).with_name("Carrying.java")], "carrying.Carrying")
    cluster = Cluster(server.address, *views, *waiting)
    assert cluster.urls, cluster.result.stderr
    yield cluster
    cluster.close()


def test_it_reads_and_writes_under_one_lock(node, server):
    node.create("articles", **{"forelock.monitor": "id"})

    def view():
        for _ in range(VIEWS):
            answer = node.request("POST", "/_views/articles/P1")
            assert answer.status in (200, 201), answer.text

    for client in [Later(view) for _ in range(CLIENTS)]:
        client.get(120)
    assert node.request("GET", "/articles/_doc/P1").json["_source"] == {"views": CLIENTS * VIEWS}, "none is lost"
    assert node.stats()["unguarded_writes"] == 0
    with Holder(server.address, "P1") as holder:
        later = Later(lambda: node.request("POST", "/_views/articles/P1"))
        wait_until(lambda: node.request("GET", "/_plugins/_forelock/locks/P1").json["queue"], "it waits for others")
        assert node.request("PUT", "/articles/_doc/other", {"views": 0}).status == 201, "and keeps no thread"
        holder.let_go()
        assert later.get().status == 200
    wait_until(lambda: node.request("GET", "/_plugins/_forelock/locks").json["monitors"] == [], "all is given back")


@needs("connections")
def test_it_neither_keeps_a_thread_of_the_node_nor_ends_its_session(node):
    refused = node.request("POST", "/_waiting/lock").text
    assert refused.startswith("INVALID_ARGUMENT: ") and "[transport_worker]" in refused, refused
    assert "borrowed" in node.request("POST", "/_waiting/close").text
    assert node.request("POST", "/_views/articles/P2").status == 201, "the session is there"


@needs("connections")
def test_one_that_carries_the_jar_itself_has_a_session_beside_ours(node, server):
    node.create("beside", **{"forelock.monitor": "id"})
    held = node.request("POST", f"/_carrying/lock?servers={server.address}&monitor=P3")
    assert held.status == 200 and held.text.startswith("P3="), held.text
    kept = node.request("PUT", "/beside/_doc/P3?timeout=300ms", {"n": 1})
    assert (kept.status, kept.code) == (429, "lock_timeout"), kept.text
    assert node.request("PUT", "/beside/_doc/P3", {"n": 1}, X_Forelock_Held=held.text).status == 201
    assert node.request("POST", "/_views/articles/P4").status == 201, "and the node's own session works"
    assert node.request("POST", "/_carrying/unlock").text == "given back"
    assert node.request("PUT", "/beside/_doc/P3", {"n": 2}).status == 200
