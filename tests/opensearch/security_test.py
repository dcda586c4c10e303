"""With the security that an engine has: OpenSearch Security lets few headers pass, from clients and between nodes."""

import json

import pytest

from cluster import ENGINE, HAS, Cluster, Holder, Later, bulk, needs, wait_until
from plugins import build_example, build_ours


@pytest.fixture(scope="module")
def cluster(server, tmp_path_factory):
    build_ours()
    articles = build_example(tmp_path_factory.mktemp("plugins"))
    queue = ["--set", "forelock.queue.mode=header", "--set", "forelock.queue.retries=0"] if "queue" in HAS else []
    one = Cluster(server.address, "--nodes", "2", "--security", *queue, *articles)
    assert one.urls, one.result.stderr
    yield one
    one.close()


def total(cluster, *path):
    values = cluster.request("GET", "/_plugins/_forelock/stats").json["nodes"].values()
    for key in path:
        values = [value[key] for value in values]
    return sum(values)


def test_each_write_takes_its_lock_once(cluster):
    cluster.create("through", **{"routing.allocation.require._name": "node1"})
    granted = total(cluster, "foreground", "granted")
    for node in range(2):
        assert cluster.request("PUT", "/through/_doc/1", {"n": node}, node=node).status in (200, 201)
        answer = cluster.request("POST", "/through/_update/1", {"doc": {"m": node}}, node=node)
        assert answer.status == 200, answer.text
        answer = cluster.request("POST", "/through/_bulk", bulk(
            {"index": {"_id": "2"}}, {"n": 1}, {"delete": {"_id": "3"}}), node=node)
        assert {next(iter(item.values()))["status"] for item in answer.json["items"]} <= {200, 201, 404}
    assert total(cluster, "foreground", "granted") == granted + 6, "an update and its bulk take one lock"
    assert total(cluster, "unguarded_writes") == 0, "the primary knows the lock of each"
    assert total(cluster, "refused_on_primary") == 0


@needs("fencing")
def test_the_primary_has_the_token(cluster):
    cluster.create("fenced", **{"routing.allocation.require._name": "node1", "forelock.fencing": True})
    last = 0
    for node in (0, 1):
        for method, path, body in (("PUT", "_doc/1", {"n": 1}), ("POST", "_update/1", {"doc": {"n": 2}}),
                                   ("DELETE", "_doc/1", None)):
            answer = cluster.request(method, "/fenced/" + path, body, node=node,
                                     X_Opaque_Id="save-7;X-Forelock-Report=true")
            assert answer.json["_version"] == int(answer.headers["x-forelock-token"]) > last
            last = answer.json["_version"]


@needs("jobs")
def test_what_a_job_does_is_background(cluster):
    cluster.create("job", **{"routing.allocation.require._name": "node1"})
    for i in range(3):
        assert cluster.request("PUT", f"/job/_doc/{i}?refresh=true", {"n": i}).status == 201
    for node in (0, 1):
        before = total(cluster, "foreground", "granted"), total(cluster, "background", "granted")
        answer = cluster.request("POST", "/job/_update_by_query?refresh=true", {"script": "ctx._source.n += 1"},
                                 node=node)
        assert answer.status == 200 and answer.json["updated"] == 3, answer.text
        after = total(cluster, "foreground", "granted"), total(cluster, "background", "granted")
        assert after == (before[0], before[1] + 1)


def test_a_client_says_it_in_its_opaque_id(cluster, server):
    cluster.create("said")
    before = total(cluster, "background", "granted")
    answer = cluster.request("PUT", "/said/_doc/1", {"n": 1}, node=1,
                             X_Opaque_Id="import-3;X-Forelock-Priority=background")
    assert answer.status == 201
    assert total(cluster, "background", "granted") == before + 1
    cluster.create("open", **{"forelock.enabled": False})
    refused = cluster.request("PUT", "/open/_doc/1", {"n": 1}, X_Opaque_Id="X-Forelock-Required=true")
    assert (refused.status, refused.code) == (409, "not_guarded")
    said = "import-3;X-Forelock-Priority=background" + (";X-Forelock-Queue=true" if "queue" in HAS else "")
    with Holder(server.address, "said/1"):
        later = Later(lambda: cluster.request("POST", "/said/_bulk?timeout=300ms", bulk(
            {"index": {"_id": "1"}}, {"n": 1}, {"index": {"_id": "2"}}, {"n": 2}), node=1, X_Opaque_Id=said))
        statuses = [item["index"]["status"] for item in later.get().json["items"]]
        assert statuses == [202 if "queue" in HAS else 429, 201]
    answer = cluster.request("PUT", "/said/_doc/1", {"n": 1}, X_Opaque_Id="X-Forelock-Priority=urgent")
    assert answer.status == 400 and "write foreground or background" in answer.text


def test_a_lock_of_another_program_is_waited_for(cluster, server):
    cluster.create("shared")
    with Holder(server.address, "shared/1") as holder:
        later = [Later(lambda node=node: cluster.request("PUT", "/shared/_doc/1", {"n": 1}, node=node))
                 for node in (0, 1)]
        wait_until(lambda: cluster.held(0) + cluster.held(1) == 2, "both wait")
        holder.let_go()
        assert sorted(one.get().status for one in later) == [200, 201]
    answer = cluster.request("PUT", "/shared/_doc/1", {"n": 1}, user="admin:wrong")
    assert answer.status == 401


PASSWORD = "Tests-of-Forelock-2"  # one that has a user's name in it is refused


def make_user(cluster, name, permissions, indices=()):
    """One with a role of its own, whom the second node knows at least; may do everything with those indices."""
    if ENGINE == "elasticsearch":  # its nodes from Maven cannot make the index in which it keeps others
        of_indices = [{"names": list(indices), "privileges": ["all"]}] * bool(indices)
        for node in (0, 1):  # the one that has the primary knows the role of whoever writes by its own file
            with open(cluster.configuration(node) / "roles.yml", "a", encoding="utf-8") as roles:
                roles.write(json.dumps({name: {"cluster": permissions, "indices": of_indices}})[1:-1] + "\n")
        cluster.tool("users", "useradd", name, "-p", PASSWORD, "-r", name, node=1)
        return
    api = "/_plugins/_security/api"
    user = {"password": PASSWORD, "opendistro_security_roles": [name]}
    role = {"cluster_permissions": permissions,
            "index_permissions": [{"index_patterns": list(indices), "allowed_actions": ["*"]}] * bool(indices)}
    for path, body in ((f"roles/{name}", role), (f"internalusers/{name}", user)):
        answer = cluster.request("PUT", f"{api}/{path}", body)
        assert answer.status == 201, answer.text


def test_a_role_may_look_and_not_cancel(cluster):
    users = {"looker": ["cluster:monitor/forelock/*"], "stranger": ["cluster:monitor/health"]}
    for name, permissions in users.items():
        make_user(cluster, name, permissions)

    def status(name, method, path):
        return cluster.request(method, path, node=1, user=f"{name}:{PASSWORD}").status

    looks = ("/_plugins/_forelock/locks", "/_plugins/_forelock/stats", "/_plugins/_forelock/metrics", "/_cat/forelock")
    wait_until(lambda: status("looker", "GET", looks[0]) == 200, "the role is known")
    wait_until(lambda: status("stranger", "GET", looks[0]) == 403, "and the other one")
    assert [status("looker", "GET", path) for path in looks] == [200] * len(looks)
    assert status("looker", "GET", "/_plugins/_forelock/locks/none") == 404
    assert [status("stranger", "GET", path) for path in looks] == [403] * len(looks)
    cancel = "/_plugins/_forelock/_cancel?monitor=none"
    assert [status(name, "POST", cancel) for name in users] == [403, 403]
    assert cluster.request("POST", cancel).json["cancelled"] == 0
    if ENGINE == "opensearch":
        assert [status(name, "POST", "/_plugins/_forelock/_refence/none") for name in users] == [403, 403]


@needs("roles")
def test_what_another_plugin_does_under_a_lock_it_does_for_its_client(cluster, server):
    """The example's, which goes on in a thread of the library."""
    cluster.create("articles", **{"forelock.monitor": "id"})
    common = {"opensearch": ["indices:data/write/bulk", "indices:data/read/mget"],
              "elasticsearch": ["cluster:monitor/health"]}[ENGINE]
    make_user(cluster, "editor", common, ["articles"])
    make_user(cluster, "guest", common, ["others"])

    def save(name):
        return cluster.request("POST", "/_articles/articles/save/P1", node=1, user=f"{name}:{PASSWORD}")

    wait_until(lambda: save("editor").status == 200, "the role is known")
    wait_until(lambda: save("guest").status == 403, "and the other one")
    before = cluster.request("GET", "/articles/_doc/P1").json["_source"]["saves"]
    with Holder(server.address, "P1") as holder:
        later = [Later(lambda name=name: save(name)) for name in ("editor", "guest")]
        wait_until(lambda: len(cluster.request("GET", "/_plugins/_forelock/locks/P1").json["queue"]) == 2, "both wait")
        holder.let_go()
    assert [one.get().status for one in later] == [200, 403]
    assert cluster.request("GET", "/articles/_doc/P1").json["_source"]["saves"] == before + 1


@needs("roles")
def test_a_role_may_be_foreground(cluster):
    """Where that is restricted."""
    cluster.create("stamped", **{"number_of_replicas": 0})
    common = ["cluster:admin/forelock/leases/*", "cluster:monitor/forelock/*"]
    if ENGINE == "opensearch":
        common.append("indices:data/write/bulk")
    make_user(cluster, "person", [*common, "cluster:admin/forelock/foreground"], ["stamped"])
    make_user(cluster, "importer", common, ["stamped"])

    def ask(name, method, path, body=None, **headers):
        return cluster.request(method, path, body, node=1, user=f"{name}:{PASSWORD}", **headers)

    def classes(act):
        before = total(cluster, "foreground", "granted"), total(cluster, "background", "granted")
        act()
        return (total(cluster, "foreground", "granted") - before[0],
                total(cluster, "background", "granted") - before[1])

    def write(name, **headers):
        answer = ask(name, "PUT", "/stamped/_doc/1", {"n": 1}, **headers)
        assert answer.status in (200, 201), answer.text

    for name in ("person", "importer"):
        wait_until(lambda name=name: ask(name, "PUT", "/stamped/_doc/1", {"n": 0}).status < 300, "the role is known")
        assert classes(lambda name=name: write(name)) == (1, 0), "as long as it is not restricted"
    answer = cluster.request("PUT", "/_cluster/settings", {"persistent": {"forelock.foreground.restricted": True}})
    assert answer.status == 200, answer.text
    assert classes(lambda: write("person")) == (1, 0)
    assert classes(lambda: write("importer")) == (0, 1)
    assert classes(lambda: ask("importer", "POST", "/stamped/_bulk", bulk({"index": {"_id": "2"}}, {"n": 1}))) == (0, 1)
    assert classes(lambda: ask("importer", "POST", "/stamped/_update/1", {"doc": {"m": 1}})) == (0, 1)
    assert classes(lambda: write("person", X_Opaque_Id="X-Forelock-Priority=background")) == (0, 1)
    refused = ask("importer", "PUT", "/stamped/_doc/1", {"n": 2}, X_Opaque_Id="X-Forelock-Priority=foreground")
    assert (refused.status, refused.code) == (403, "foreground_not_permitted")
    lease = ask("importer", "POST", "/_plugins/_forelock/leases", {"monitors": ["stamped/1"]})
    assert lease.status == 200, lease.text
    shown = cluster.request("GET", "/_plugins/_forelock/locks/stamped%2F1").json
    assert shown["holder"]["priority"] == "background"
    assert ask("importer", "DELETE", f"/_plugins/_forelock/leases/{lease.json['id']}").status == 200
    refused = ask("importer", "POST", "/_plugins/_forelock/leases", {"monitors": ["P1"], "priority": "foreground"})
    assert (refused.status, refused.code) == (403, "foreground_not_permitted")
    for name in ("person", "importer"):
        assert ask(name, "POST", "/_plugins/_forelock/leases", {"monitors": []}).status == 400
    answer = cluster.request("PUT", "/_cluster/settings", {"persistent": {"forelock.foreground.restricted": None}})
    assert answer.status == 200, answer.text
