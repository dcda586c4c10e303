"""forelock serve at a follower that has lost its leader without having noticed it yet: what it answers is old."""

import subprocess
import time

import support
from serve_test import ServeTest
from support import wait_until
from zookeepers import ZooKeepers

# A client that says for each line of its input whether P1 is locked, as its server has it.
LOOK = """
import sys
from kazoo.client import KazooClient
client = KazooClient(sys.argv[1], timeout=120)
client.start()
for line in sys.stdin:
    print("held" if client.exists("/P1/privateLock") else "free", flush=True)
"""


class CutOff(ServeTest, support.CliTest):
    makes_namespace = False

    def setUp(self):
        super().setUp()
        # For 40 s a follower does not miss its leader, and for 20 s the leader does not miss the session of serve.
        self.zookeepers = ZooKeepers(self, relayed=True, options=("syncLimit=80", "maxSessionTimeout=60000"))
        self.address = self.zookeepers.address(1)

    def connect_string(self):
        return self.address

    def wait_follower(self):
        """The first server is one; it leads only if a start of the others has taken long."""
        if self.zookeepers.mode(0) != "follower":
            self.zookeepers.kill(0)
            wait_until(lambda: "leader" in [self.zookeepers.mode(i) for i in (1, 2)], "there is another leader", 60)
            self.zookeepers.restart(0)
        self.assertEqual(self.zookeepers.mode(0), "follower")

    def test_what_it_answers_is_never_shown_as_the_present(self):
        self.wait_follower()
        holder = self.hold("P1")
        self.address = self.zookeepers.address(0)
        other = subprocess.Popen(["/usr/bin/python3", "-c", LOOK, self.address], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.children.append(other)

        def says():
            other.stdin.write("?\n")
            other.stdin.flush()
            return other.stdout.readline().strip()

        wait_until(lambda: says() == "held", "the follower has heard of it")
        self.serve("--set", "zookeeper.session.timeout=20000")
        self.wait_ready()
        wait_until(lambda: self.row("P1"), "it is seen")
        for relay in self.zookeepers.relays.values():
            relay.flows.clear()
        cut = time.monotonic()
        self.let_go(holder)  # whose server has the leader
        released = time.monotonic()

        def shown():
            """The rows that are shown as what was after the release."""
            asked = time.monotonic()
            picture = self.get("/api/monitors")
            if not picture["live"] or asked - picture["age_ms"] / 1000 <= released:
                return picture["live"], []
            return True, [row["monitor"] for row in picture["monitors"] if row.get("live", True)]

        def is_old():
            live, rows = shown()
            self.assertEqual(rows, [])
            return not live

        wait_until(is_old, "it says that it is old")
        self.assertEqual(self.request("/readyz")[0].status, 503)
        self.assertIn("forelock_picture_live 0", self.request("/metrics")[1])
        self.assertEqual(says(), "held")  # the follower answers all the same
        self.assertLess(time.monotonic() - cut, 40)
        for relay in self.zookeepers.relays.values():
            relay.flows.set()
        wait_until(lambda: shown() == (True, []) and self.ready(), "it is the present again", 60)
        wait_until(lambda: self.get("/api/monitors")["monitors"] == [], "it is read")


if __name__ == "__main__":
    support.main()
