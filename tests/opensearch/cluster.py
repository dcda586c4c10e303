"""What the plugin's tests share: a cluster with the plugin, a ZooKeeper server whose faults can be made, HTTP."""

import base64
import collections
import contextlib
import http.client
import itertools
import json
import os
import random
import shutil
import signal
import ssl
import subprocess
import tempfile
import threading
from pathlib import Path
from urllib.parse import urlsplit

import jsonschema
import pytest

from support import clean_environment, wait_until

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs" / "opensearch.schema.json").read_text())
ENGINE = os.environ.get("FORELOCK_SEARCH_ENGINE", "opensearch")
SCRIPT = str(ROOT / "scripts" / (ENGINE + ".sh"))
# What one engine's node has and another's has not: as it comes from Maven (scripts, jobs by query, data streams), or by
# what the plugin does there (dead letters, fencing, connections that are watched).
HAS = {"opensearch": {"scripts", "jobs", "streams", "queue", "fencing", "connections", "roles"},
       "elasticsearch": {"roles"}}[ENGINE]
BUILD = os.environ["FORELOCK_BUILD"]
VERSION = os.environ.get("FORELOCK_SEARCH_VERSION", {"opensearch": "2.19.1", "elasticsearch": "8.19.0"}[ENGINE])
MAJOR = int(VERSION.split(".")[0])
if (ENGINE, MAJOR) == ("elasticsearch", 7):
    HAS.remove("roles")  # a node from Maven lets no role of its file write, without the plugin, too
ADMIN = "admin:Tests-of-Forelock-1"  # of scripts/opensearch.sh --security


def needs(*features):
    """Marks tests of what not all engines have."""
    missing = set(features) - HAS
    return pytest.mark.skipif(bool(missing), reason=f"{ENGINE} is tested without {', '.join(sorted(missing))}")


class Server:
    """A ZooKeeper server behind a proxy, or three ("ensemble") without (tests/support/server_host.cc)."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen([os.environ["FORELOCK_SERVER_HOST"], *arguments], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()

    def command(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def ephemeral_nodes(self):
        return int(self.command("nodes"))

    def close(self):
        self.process.stdin.close()
        self.process.wait(30)


def own_server():
    """A fixture: a server for the tests of one file alone."""

    @pytest.fixture(scope="module")
    def server():
        one = Server()
        yield one
        one.close()

    return server


class Answer:
    """A response over HTTP."""

    def __init__(self, response):
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.text = response.read().decode()

    @property
    def json(self):
        return json.loads(self.text)

    @property
    def code(self):
        return self.json["error"].get("forelock_code")


class Cluster:
    """Nodes from Maven's artefacts, in a folder that user nobody can enter."""

    def __init__(self, zookeeper, *options):
        self.folder = tempfile.mkdtemp(prefix=f"forelock-{ENGINE}-")
        os.chmod(self.folder, 0o755)
        self.home = os.path.join(self.folder, "cluster")
        self.zookeeper = zookeeper
        self.secure = "--security" in options
        self.urls = []
        self.result = self.script("start", "--zookeeper", zookeeper, *options)
        if self.result.returncode == 0:
            self.urls = self.result.stdout.split()
            self.java_home = str(Path(f"/proc/{self.pid()}/exe").resolve().parents[1])

    def script(self, action, *options):
        return subprocess.run([SCRIPT, action, "--version", VERSION, "--from", BUILD, "--dir", self.home, *options],
                              env=clean_environment(), capture_output=True, text=True, timeout=500, check=False)

    def add_secret(self, name, value, node=0):
        """To the keystore, for the node's next start."""
        self.tool("keystore", "add", "--stdin", "--force", name, node=node, given=value)

    def tool(self, name, *arguments, node=0, given=None):
        """What one of the engine's programs says."""
        command = [os.path.join(self.home, "home", "bin", f"{ENGINE}-{name}"), *arguments]
        if os.geteuid() == 0:
            command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] + command
        prefix = {"opensearch": "OPENSEARCH", "elasticsearch": "ES"}[ENGINE]
        environment = clean_environment(HOME=self.home, **{f"{prefix}_JAVA_HOME": self.java_home,
                                                           f"{prefix}_PATH_CONF": str(self.configuration(node))})
        result = subprocess.run(command, input=given, env=environment, capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stderr
        return result.stdout

    def configuration(self, node=0):
        return Path(self.home, f"node{node + 1}", "config")

    def close(self):
        self.script("stop")
        shutil.rmtree(self.folder)

    def connect(self, node, timeout):
        url = urlsplit(self.urls[node])
        if url.scheme == "http":
            return http.client.HTTPConnection(url.hostname, url.port, timeout=timeout)
        unverified = ssl._create_unverified_context()  # of the demo's certificates, on this machine
        return http.client.HTTPSConnection(url.hostname, url.port, timeout=timeout, context=unverified)

    def request(self, method, path, body=None, node=0, timeout=60, user=ADMIN, **headers):
        connection = self.connect(node, timeout)
        try:
            fields = {name.replace("_", "-"): value for name, value in headers.items()}
            if self.secure:
                fields["Authorization"] = "Basic " + base64.b64encode(user.encode()).decode()
            if body is not None:
                fields["Content-Type"] = "application/x-ndjson" if isinstance(body, str) else "application/json"
                body = body if isinstance(body, str) else json.dumps(body)
            connection.request(method, path, body, fields)
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def create(self, index, **settings):
        values = {"number_of_shards": 1, "number_of_replicas": 0, "forelock.enabled": True, **settings}
        answer = self.request("PUT", "/" + index, {"settings": values})
        assert answer.status == 200, answer.text

    def node_setting(self, **settings):
        values = {"forelock." + name.replace("__", "."): value for name, value in settings.items()}
        answer = self.request("PUT", "/_cluster/settings", {"transient": values})
        assert answer.status == 200, answer.text

    def stats(self, node=0):
        """Those of one node; cheap, and on that node alone."""
        nodes = self.request("GET", "/_plugins/_forelock/stats", node=node).json["nodes"]
        return next(value for value in nodes.values() if value["name"] == f"node{node + 1}")

    def held(self, node=0):
        held = self.stats(node)["held"]
        return held["foreground"]["requests"] + held["background"]["requests"]

    def settings_file(self, node=0):
        return self.configuration(node) / (ENGINE + ".yml")

    def pid(self, node=0):
        pid = int(Path(self.home, f"node{node + 1}", "node.pid").read_text())
        if ENGINE == "opensearch" or MAJOR < 8:
            return pid
        # The launcher of later ones has the node as its child.
        children = [child for thread in Path(f"/proc/{pid}/task").iterdir()
                    for child in (thread / "children").read_text().split()]
        return next(int(child) for child in children
                    if b"org.elasticsearch.server" in Path(f"/proc/{child}/cmdline").read_bytes())

    def signal(self, number, node=0):
        os.kill(self.pid(node), number)

    def runs(self, node=0):
        try:
            return f"node{node + 1}/config" in Path(f"/proc/{self.pid(node)}/environ").read_text("utf-8", "replace")
        except (OSError, StopIteration):  # it is gone, or is going
            return False

    def log(self, node=0):
        return Path(self.home, f"node{node + 1}", "output.log").read_text("utf-8")


class Holder:
    """Another program that holds a lock: the command, which knows nothing of search engines."""

    def __init__(self, zookeeper, monitor, *options, config=None):
        where = ["--config", config] if config else ["--zookeeper", zookeeper]
        self.child = subprocess.Popen(
            [os.environ["FORELOCK_BINARY"], *where, "run", "-m", monitor, "--info", "Save Content",
             *options, "--", "sh", "-c", 'echo "ready $FORELOCK_HELD"; read forever'],
            env=clean_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        word, _, self.held = self.child.stdout.readline().strip().partition(" ")  # what it says of its lock
        assert word == "ready", "the holder does not start"

    def let_go(self):
        self.child.communicate("\n", timeout=30)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.child.poll() is None:
            self.let_go()


class Later:
    """A call in a thread of its own."""

    def __init__(self, call):
        self.result = None
        self.problem = None
        self.thread = threading.Thread(target=self.run, args=(call,), daemon=True)
        self.thread.start()

    def run(self, call):
        try:
            self.result = call()
        except Exception as problem:  # told where the result is asked for
            self.problem = problem

    def get(self, timeout=60):
        self.thread.join(timeout)
        assert not self.thread.is_alive(), "it has not ended"
        if self.problem:
            raise self.problem
        return self.result


class Ledger:
    """
    Clients that append numbers of their own to documents, each an update that reads, changes and writes: to a list, or,
    where there are no scripts, as keys, of which none can be there twice.

    The search engine itself lets no such update be lost: it refuses the write if another one came in between the read
    and it. So that is what shows that two updates of a document were under way at the same time.
    """

    CONFLICT = "version_conflict_engine_exception"

    def __init__(self, cluster, index, documents, nodes):
        self.cluster = cluster
        self.index = index
        self.nodes = nodes
        self.lock = threading.Lock()
        self.numbers = itertools.count(1)
        self.done = [set() for _ in range(documents)]
        self.refused = [set() for _ in range(documents)]
        self.conflicts = [{} for _ in range(documents)]  # and through which node the update came
        self.faults_to_come = False  # until then the clients go on, however quick they are
        self.moving = False  # a primary moves
        self.behind = None  # the node that had the primary when it stood still, until it knows that it has it no more
        self.ending = None  # the node whose session is ended from outside: for a moment it does not know that
        self.answers = collections.Counter()

    def make_documents(self):
        if "scripts" not in HAS:
            mapping = {"properties": {"numbers": {"type": "object", "enabled": False}}}
            assert self.cluster.request("PUT", f"/{self.index}/_mapping", mapping).status == 200
        for document in range(len(self.done)):
            empty = {"numbers": [] if "scripts" in HAS else {}}
            assert self.cluster.request("PUT", f"/{self.index}/_doc/{document}", empty).status == 201

    def client(self, seed, wanted):
        choice = random.Random(seed)
        while self.writes() < wanted or self.faults_to_come:
            document = choice.randrange(len(self.done))
            with self.lock:
                number = next(self.numbers)
            node = choice.choice(self.nodes)
            moving, ending, behind = self.moving, self.ending, self.behind
            result = self.append(document, number, node)
            with self.lock:
                self.answers[result] += 1
                if result == "200":
                    self.done[document].add(number)
                elif result == self.CONFLICT and (moving or self.moving or node in (behind, self.behind)):
                    self.answers["read at the former primary"] += 1
                elif result == self.CONFLICT and node in (ending, self.ending):
                    self.answers["lock taken away meanwhile"] += 1
                elif result == self.CONFLICT:
                    self.conflicts[document][number] = node
                elif result != "unknown":
                    self.refused[document].add(number)

    def writes(self):
        return sum(len(done) for done in self.done)

    def append(self, document, number, node):
        body = {"script": {"source": "ctx._source.numbers.add(params.number)", "params": {"number": number}}} \
            if "scripts" in HAS else {"doc": {"numbers": {str(number): 1}}}
        try:
            answer = self.cluster.request("POST", f"/{self.index}/_update/{document}", body, node=node, timeout=30)
        except ConnectionRefusedError:
            return "refused"
        except (OSError, http.client.HTTPException):
            return "unknown"
        if answer.status == 200:
            return "200"
        # Each code of the plugin says that nothing was written, as a version conflict does, but the one that says that
        # this is not known.
        error = answer.json.get("error", {})
        if error.get("forelock_code") == "outcome_unknown":
            return "unknown"
        return error["type"] if answer.status == 409 and "forelock_code" not in error \
            else error.get("forelock_code", "unknown")

    def check(self, stopped=()):
        """
        What was confirmed is there, what was refused is not, and no other write came into an update. How many are
        there twice.

        An update in conflict whose number is there all the same met itself: the cluster sends it again where its
        connection to the primary's node breaks, and the first attempt was done. One that was under way while the
        primary moved may have read what was old already, at the former one: of that a node may hear later than of the
        lock, all the more one that stood still while it had the primary (behind_test.py).

        stopped: nodes that stood still while they held locks of an index with fencing. What they go on with may be
        refused by the engine then, because others have written.
        """
        twice = 0
        for document, done in enumerate(self.done):
            answer = self.cluster.request("GET", f"/{self.index}/_doc/{document}")
            numbers = collections.Counter(int(number) for number in answer.json["_source"]["numbers"])
            assert not done - set(numbers), f"lost: {done - set(numbers)} in {document}; {self.answers}"
            assert not self.refused[document] & set(numbers), f"refused, but done, in {document}; {self.answers}"
            others = {number: node for number, node in self.conflicts[document].items() if number not in numbers}
            assert set(others.values()) <= set(stopped), f"not excluded: {others} in {document}; {self.answers}"
            twice += sum(count - 1 for count in numbers.values())
        return twice


def valid(document, kind):
    """The document, which is one of this kind in the schema of the REST interface."""
    jsonschema.validate(document, {"$ref": "#/$defs/" + kind, "$defs": SCHEMA["$defs"]})
    return document


def bulk(*lines):
    """The body of a bulk request."""
    return "".join(json.dumps(line) + "\n" for line in lines)


@contextlib.contextmanager
def snapshots(server, *options):
    """Two nodes with a repository, `kept`."""
    with tempfile.TemporaryDirectory(prefix="forelock-snapshots-") as repository:
        os.chmod(repository, 0o777)
        cluster = Cluster(server.address, "--nodes", "2", "--set", f"path.repo={repository}", *options)
        assert cluster.urls, cluster.result.stderr
        answer = cluster.request("PUT", "/_snapshot/kept", {"type": "fs", "settings": {"location": repository}})
        assert answer.status == 200, answer.text
        yield cluster
        cluster.close()


__all__ = ["ENGINE", "HAS", "Cluster", "Holder", "Later", "Ledger", "Server", "bulk", "clean_environment", "needs",
           "own_server", "signal", "snapshots", "valid", "wait_until"]
