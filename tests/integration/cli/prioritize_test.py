"""forelock prioritize: the class of somebody else's waiting lock."""

import json
import subprocess

import support
from support import wait_until

# A client that knows no wishes: it makes the nodes that it is told of, and deletes them when told, one a line.
OTHERS = """
import sys
from kazoo.client import KazooClient
client = KazooClient(sys.argv[1])
client.start()
for line in sys.stdin:
    verb, path, data = line.rstrip("\\n").split(" ", 2)
    if verb == "delete":
        client.delete(path)
    else:
        path = client.create(path, data.encode(), ephemeral=True, sequence=path.endswith("-"))
    print(path, flush=True)
client.stop()
"""


class PrioritizeTest(support.CliTest):
    def setUp(self):
        super().setUp()
        self.file = self.path("audit.jsonl")

    def prioritize(self, monitor, waiter, to="foreground", *options):
        return self.run_cli("prioritize", monitor, "--waiter", waiter, "--class", to, "--reason", "by noon",
                            "--audit-file", self.file, "-o", "json", *options)

    def moved(self, *arguments):
        """However busy the machine is."""
        to = arguments[2:] or ("foreground",)
        result = self.prioritize(*arguments[:2], *to, "--timeout", "30s")
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def refused(self, code, *arguments):
        result = self.prioritize(*arguments)
        error = self.error_of(result)
        self.assertEqual((error["code"], result.stdout), (code, ""), error)
        return result.returncode, error["message"]

    def acts(self):
        shown = self.run_cli("audit", "-o", "json", "--audit-file", self.file, server=False)
        return json.loads(shown.stdout)["acts"]

    def waits(self, monitor, priority, *options):
        """Another waiter: the process and its node."""
        before = {waiter["node"] for waiter in self.queue(monitor)}
        child = self.start_cli("run", "-m", monitor, *options, "-p", priority, "--timeout", "1m", "--info", priority,
                               "--", "sh", "-c", "echo $FORELOCK_PRIORITY")
        new = wait_until(lambda: {one["node"] for one in self.queue(monitor)} - before, "it waits")
        return child, new.pop()

    def stranger(self):
        """A client of others: what it is told to do returns the node."""
        child = subprocess.Popen(["/usr/bin/python3", "-c", OTHERS, self.connect_string()], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.children.append(child)

        def tell(verb, path, data=""):
            child.stdin.write(f"{verb} {path} {data}\n")
            child.stdin.flush()
            return child.stdout.readline().strip().rsplit("/", 1)[-1]

        return tell


class Moves(PrioritizeTest):
    def test_a_waiter_goes_to_the_end_of_its_new_queue(self):
        holder = self.hold("P1")
        _, other = self.waits("P1", "background")
        bulk, node = self.waits("P1", "background")
        _, save = self.waits("P1", "foreground")
        result = self.moved("P1", node)
        self.assertEqual((result["result"], result["class"], result["position"]), ("moved", "foreground", 2), result)
        self.assertEqual([one["node"] for one in self.queue("P1")], [save, result["node"], other])
        owner = self.queue("P1")[1]["owner"]
        self.assertEqual((owner["priority"], owner["byWish"], owner.get("wish")), ("foreground", True, None))
        self.assertIn("foreground, by an operator's wish", self.run_cli("show", "P1").stdout)
        begun, done = self.acts()
        self.assertEqual((begun["result"], done["result"], done["node"]), ("begun", "moved", result["node"]))
        for act in (begun, done):
            self.assertEqual((act["action"], act["monitor"], act["waiter"], act["class"], act["reason"]),
                             ("prioritize", "P1", node, "foreground", "by noon"))
            self.assertEqual(act["waited"]["node"], node)
        self.let_go(holder)
        self.assertEqual(bulk.wait(support.PATIENCE), 0)
        self.assertEqual(bulk.stdout.read(), "foreground\n")

    def test_and_back_again(self):
        self.hold("P1")
        _, node = self.waits("P1", "foreground")
        lower = self.moved("P1", node, "background")["node"]
        self.assertTrue(lower.startswith("B-"))
        self.assertTrue(self.moved("P1", lower)["node"].startswith("A-"))

    def test_a_set_too(self):
        self.hold("P2")
        _, node = self.waits("P2", "background", "-m", "P3")
        self.assertEqual(self.moved("P2", node)["position"], 1)
        self.assertEqual(self.queue("P2")[0]["owner"]["priority"], "foreground")

    def test_text_for_people(self):
        self.hold("P1")
        _, node = self.waits("P1", "background")
        result = self.run_cli("prioritize", "P1", "--waiter", node, "--class", "foreground", "--reason", "x",
                              "--timeout", "30s")
        new = self.queue("P1")[0]["node"]
        self.assertEqual((result.returncode, result.stdout),
                         (0, f"{node} has moved: it is {new} now, at place 1 of P1\n"))
        self.assertIn('audit: {"action":"prioritize"', result.stderr)


class Refused(PrioritizeTest):
    def test_what_is_not_a_waiters(self):
        self.assertEqual(self.refused("unknown_monitor", "P1", "B-0000000001")[0], 1)
        self.hold("P1")
        self.assertEqual(self.refused("holds", "P1", self.holder("P1")["node"])[0], 1)
        self.assertEqual(self.refused("no_such_waiter", "P1", "B-0000000099")[0], 1)
        node = self.stranger()("create", "/P1/B-")
        self.assertEqual(self.refused("no_owner_record", "P1", node)[0], 1)
        self.assertEqual(self.acts_or_none(), [])

    def acts_or_none(self):
        result = self.run_cli("audit", "-o", "json", "--audit-file", self.file, server=False)
        return json.loads(result.stdout)["acts"] if result.returncode == 0 else []

    def test_a_record_without_room(self):
        self.hold("P1")
        node = self.stranger()("create", "/P1/B-", json.dumps({"guid": "g", "lockInfo": "x" * 8170}))
        self.assertEqual(self.refused("record_too_large", "P1", node)[0], 1)

    def test_all_that_is_missing_is_one_message(self):
        result = self.ends(64, "prioritize", "P1")
        for option in ("--waiter", "--class", "--reason", "forelock show P1"):
            self.assertIn(option, result.stderr)

    def test_what_it_is_already(self):
        self.hold("P1")
        _, node = self.waits("P1", "background")
        result = self.moved("P1", node, "background")
        self.assertEqual((result["result"], result["node"]), ("already", node))
        self.assertEqual(self.acts_or_none(), [])


class Ended(PrioritizeTest):
    """The waiter's client does not move it."""

    def setUp(self):
        super().setUp()
        self.holding = self.hold("P1")
        self.tell = self.stranger()
        self.record = json.dumps({"guid": "g1", "lockInfo": "theirs", "priority": "background", "more": [1]})
        self.node = self.tell("create", "/P1/B-", self.record)

    def test_it_waits_where_it_has_waited(self):
        code, message = self.refused("unmoved", "P1", self.node, "foreground", "--timeout", "300ms")
        self.assertEqual(code, 75)
        self.assertIn("The wish stays", message)
        self.assertEqual([act["result"] for act in self.acts()], ["begun", "unmoved"])
        self.assertIn("background, wished foreground", self.run_cli("show", "P1").stdout)
        # What it is already takes the wish back.
        self.assertEqual(self.moved("P1", self.node, "background")["result"], "already")
        self.assertEqual([act["result"] for act in self.acts()[2:]], ["begun", "already"])
        self.assertNotIn("wished", self.run_cli("show", "P1").stdout)

    def wish(self):
        child = self.start_cli("prioritize", "P1", "--waiter", self.node, "--class", "foreground", "--reason", "x",
                               "--timeout", "1m", "-o", "json")
        wait_until(lambda: self.queue("P1")[0]["owner"].get("wish") == "foreground", "it is wished")
        return child

    def end_of(self, child):
        self.assertEqual(child.wait(support.PATIENCE), 1)
        return [json.loads(line) for line in child.stderr.read().splitlines()][-1]["error"]["code"]

    def test_it_gets_the_lock_in_the_meantime(self):
        child = self.wish()
        self.let_go(self.holding)
        wait_until(lambda: not self.holder("P1"), "it is free")
        self.tell("create", "/P1/privateLock", self.record)
        self.assertEqual(self.end_of(child), "holds")

    def test_it_gives_up_in_the_meantime(self):
        child = self.wish()
        self.tell("delete", f"/P1/{self.node}")
        self.assertEqual(self.end_of(child), "waiter_gone")
