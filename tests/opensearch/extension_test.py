"""A plugin of somebody else that takes locks in the session of the node: the example that is in the documentation."""

import subprocess
import zipfile

import pytest

from cluster import BUILD, ROOT, VERSION, Cluster, Holder, Later, wait_until

CLIENTS = 8
VIEWS = 10
EXAMPLE = ROOT / "examples" / "opensearch_plugin"


def build(folder):
    """The example's zip, made of nothing but the node's jars and ours."""
    classes = folder / "classes"
    jars = [f"{ROOT}/build/opensearch/lib/{VERSION}/lib/*", f"{BUILD}/opensearch/java/forelock-0.1.0.jar",
            f"{BUILD}/opensearch/search/forelock-search-0.1.0.jar"]
    subprocess.run(["javac", "--release", "17", "-d", str(classes), "-cp", ":".join(jars),
                    *map(str, EXAMPLE.glob("*.java"))], check=True)
    with zipfile.ZipFile(folder / "views.jar", "w") as jar:
        for file in [*classes.rglob("*.class")]:
            jar.write(file, file.relative_to(classes))
        for file in (EXAMPLE / "META-INF").rglob("*Extension"):
            jar.write(file, file.relative_to(EXAMPLE))
    descriptor = (EXAMPLE / "plugin-descriptor.properties").read_text().replace("@opensearch.version@", VERSION)
    with zipfile.ZipFile(folder / "views.zip", "w") as plugin:
        plugin.write(folder / "views.jar", "views.jar")
        plugin.writestr("plugin-descriptor.properties", descriptor)
    return folder / "views.zip"


@pytest.fixture(scope="module")
def node(server, tmp_path_factory):
    built = subprocess.run([str(ROOT / "scripts" / "opensearch.sh"), "build", "--version", VERSION, "--from", BUILD],
                           capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    cluster = Cluster(server.address, "--plugin", str(build(tmp_path_factory.mktemp("views"))))
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
