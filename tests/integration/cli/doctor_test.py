"""forelock doctor over several servers: it says that locks work only where it has seen it."""

import json
import os
import subprocess

import intruder
import support
from zookeepers import ZooKeepers


class DoctorTest(support.CliTest):
    servers = ""

    def connect_string(self):
        return self.servers

    def findings(self, *options, expect):
        result = self.run_cli("doctor", "-o", "json", *options)
        self.assertEqual(result.returncode, expect, result.stdout + result.stderr)
        return json.loads(result.stdout)["checks"]

    def messages(self, check, *options, expect=0):
        return [(each["status"], each["message"]) for each in self.findings(*options, expect=expect)
                if each["check"] == check]


class NoEnsemble(DoctorTest):
    def test_servers_that_know_nothing_of_each_other_are_a_failure(self):
        zookeepers = ZooKeepers(self, ensemble=False)
        self.servers = zookeepers.addresses()
        for options in ((), ("--quick",)):
            (status, message), = self.messages("ensemble", *options, expect=78)
            self.assertEqual(status, "fail")
            self.assertIn("do not see what is written through " + zookeepers.address(0), message)
            self.assertIn(f"{zookeepers.address(1)}, {zookeepers.address(2)}", message)
        self.assertIn("Locks do not work", self.run_cli("doctor").stdout)
        # With a namespace that none of them has, nothing can be written: what they say of themselves is enough.
        self.servers += self.namespace
        for options in ((), ("--quick",)):
            self.assertEqual(self.run_cli("doctor", *options).returncode, 78)
        (status, message), = self.messages("ensemble", "--quick", expect=78)
        self.assertIn("a server of the list is standalone", message)
        # One that is not there is no better.
        self.servers = f"127.0.0.1:1,{zookeepers.address(0)}"
        (status, message), = self.messages("ensemble", "--quick", expect=78)
        self.assertIn("a server of the list is standalone", message)

    def test_two_ensembles_in_one_list_are_a_failure(self):
        first, second = ZooKeepers(self, "first", count=2), ZooKeepers(self, "second", count=2)
        self.servers = f"{first.addresses()},{second.address(1)}"
        for options in ((), ("--quick",)):
            self.assertEqual(self.messages("ensemble", *options, expect=78), [
                ("fail", f"{second.address(1)} does not see what is written through {first.address(0)}: these servers "
                         "do not share their locks")])

    def test_local_sessions_are_named(self):
        zookeepers = ZooKeepers(self, options=["localSessionsEnabled=true"])
        self.servers = zookeepers.addresses()
        for options in ((), ("--quick",)):
            failures = [each for each in self.findings(*options, expect=69) if each["status"] == "fail"]
            self.assertEqual([each["check"] for each in failures], ["session"])
            self.assertIn("local sessions", failures[0]["message"])
            self.assertIn("localSessionsEnabled", failures[0]["hint"])


class OneEnsemble(DoctorTest):
    def test_servers_are_counted(self):
        zookeepers = ZooKeepers(self)
        self.servers = zookeepers.addresses()
        for options in ((), ("--quick",)):
            (status, message), = self.messages("ensemble", *options)
            self.assertEqual(status, "ok")
            self.assertIn("3 of 3 servers serve, and each sees", message)
        # A part of the list is enough, also without the leader.
        self.servers = zookeepers.address(zookeepers.of_mode("follower"))
        self.assertEqual(self.messages("ensemble"), [("ok", "1 of 1 servers serve")])
        self.servers = zookeepers.addresses()
        zookeepers.kill(zookeepers.of_mode("follower"))
        for options in ((), ("--quick",)):
            (status, message), = self.messages("ensemble", *options)
            self.assertEqual((status, message), ("warn", "2 of 3 servers serve; one more loss stops all locks"))
        # Of a list of two more members may run than it names.
        alive = [i for i in range(3) if zookeepers.mode(i)]
        dead = next(i for i in range(3) if i not in alive)
        self.servers = f"{zookeepers.address(dead)},{zookeepers.address(alive[0])}"
        (status, message), = self.messages("ensemble")
        self.assertEqual((status, message), ("warn", "1 of 2 servers serve; the ensemble has 3 that vote"))
        zookeepers.kill(alive[0])
        self.servers = zookeepers.addresses()
        self.findings("--quick", expect=69)

    def test_observers_do_not_vote(self):
        zookeepers = ZooKeepers(self, count=4, observers=1)
        self.servers = zookeepers.addresses()
        self.assertEqual(self.messages("ensemble")[0][0], "ok")
        zookeepers.kill(zookeepers.of_mode("follower"))
        self.assertEqual(self.messages("ensemble"),
                         [("warn", "3 of 4 servers serve; one more loss stops all locks")])

    def test_an_observer_that_is_gone_is_no_loss_of_a_vote(self):
        zookeepers = ZooKeepers(self, count=4, observers=1)
        self.servers = zookeepers.addresses()
        zookeepers.kill(3)
        self.assertEqual(self.messages("ensemble"), [("warn", "3 of 4 servers serve; 1 more server may fail "
                                                              "before locking stops")])

    def test_local_sessions_that_are_upgraded_hold_locks(self):
        zookeepers = ZooKeepers(self, options=["localSessionsEnabled=true", "localSessionsUpgradingEnabled=true"])
        self.servers = zookeepers.addresses()
        self.findings(expect=0)
        self.findings("--quick", expect=0)


class SmallRequests(support.OwnServerTest):
    java_properties = ("jute.maxbuffer=65536",)

    def test_a_lowered_limit_is_named(self):
        result = self.ends(0, "doctor")
        self.assertIn("jute.maxbuffer", result.stdout)
        self.assertNotIn("jute.maxbuffer", self.run_cli("doctor", "--quick").stdout)
        self.assertNotIn("jute.maxbuffer", self.run_cli("doctor", "--zookeeper", support.SERVER, server=False).stdout)


class OneName(DoctorTest):
    """A name with an address for each server, as that of a headless service."""

    def setUp(self):
        super().setUp()
        self.hosts = self.write("hosts", "".join(f"127.0.0.{i} zookeeper.test\n" for i in (1, 2, 3)))
        self.unshare = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
        mounted = subprocess.run([*self.unshare, "mount", "--bind", self.hosts, "/etc/hosts"], capture_output=True,
                                 check=False)
        if mounted.returncode != 0:
            self.skipTest("no mount namespace is permitted here")

    def command(self, *arguments, server=True):
        return [*self.unshare, "sh", "-c", 'mount --bind "$0" /etc/hosts && exec "$@"', self.hosts,
                *super().command(*arguments, server=server)]

    def test_all_its_addresses_are_servers(self):
        zookeepers = ZooKeepers(self, addresses=["127.0.0.1", "127.0.0.2", "127.0.0.3"])
        self.servers = f"zookeeper.test:{zookeepers.ports[0]}"
        for options in ((), ("--quick",)):
            (status, message), = self.messages("ensemble", *options)
            self.assertEqual(status, "ok", message)
            self.assertIn("3 of 3 servers", message)
        zookeepers.kill(zookeepers.of_mode("follower"))
        (status, message), = self.messages("ensemble")
        self.assertEqual((status, message), ("warn", "2 of 3 servers serve; one more loss stops all locks"))

    def test_a_split_brain_behind_it_is_seen(self):
        zookeepers = ZooKeepers(self, ensemble=False, addresses=["127.0.0.1", "127.0.0.2", "127.0.0.3"])
        self.servers = f"zookeeper.test:{zookeepers.ports[0]}"
        for options in ((), ("--quick",)):
            (status, message), = self.messages("ensemble", *options, expect=78)
            self.assertEqual(status, "fail")
            self.assertIn("zookeeper.test", message)


class MissingNamespace(support.CliTest):
    makes_namespace = False

    def test_what_looks_does_not_make_it_and_says_so(self):
        holder = ("--holder", "A-0000000000@1", "--reason", "test")
        for arguments in (("ls",), ("ls", "--all"), ("show", "P1"), ("wait", "P1"), ("wait", "P1", "--held"),
                          ("wait", "P1", "--timeout", "0"), ("watch", "--count", "1"), ("watch", "P1", "--count", "1"),
                          ("release", "P1", *holder), ("sweep", "--dry-run"), ("sweep",), ("doctor",)):
            result = self.run_cli(*arguments)
            self.assertEqual(result.returncode, 78, (arguments, result.stdout, result.stderr))
            self.assertIn(f"the chroot {self.namespace} does not exist at this ensemble (a typo?)",
                          result.stdout + result.stderr, arguments)
        error = self.error_of(self.run_cli("-o", "json", "ls"))
        self.assertEqual(error["code"], "no_namespace")
        self.assertIn("zookeeper.servers", error["hint"])
        self.assertEqual(self.run_cli("ls").returncode, 78)

    def test_a_health_check_warns_of_it_and_makes_nothing(self):
        result = self.ends(0, "doctor", "--quick")
        self.assertIn(f"WARN  chroot: the chroot {self.namespace} does not exist", result.stdout)
        self.assertNotIn("locks work", result.stdout)
        self.assertEqual(self.run_cli("ls").returncode, 78)

    def test_what_locks_makes_it(self):
        self.assertEqual(self.run_cli("run", "-m", "P1", "--", "true").returncode, 0)
        for arguments in (("ls",), ("sweep",), ("wait", "P1"), ("watch", "--count", "1"), ("doctor",),
                          ("doctor", "--quick")):
            self.assertEqual(self.run_cli(*arguments).returncode, 0, arguments)
        self.assertEqual(self.run_cli("show", "P2").returncode, 1)


class Access(DoctorTest):
    def connect_string(self):
        return self.servers or support.CliTest.connect_string(self)

    def credentials(self):
        file = self.write("digest", "alice:secret\n")
        os.chmod(file, 0o600)
        return "--set", "zookeeper.auth.digest.file=" + file

    def access(self, *options):
        result = self.run_cli("doctor", "-o", "json", *options)
        return [(each["status"], each["message"]) for each in json.loads(result.stdout)["checks"]
                if each["check"] == "access"]

    def test_acls_do_not_keep_a_stranger_from_ending_a_lock(self):
        holder = self.hold("P1", *self.credentials(), script="echo ready; exec sleep 600")
        self.assertTrue(intruder.end_session_of(support.SERVER, self.namespace + "/P1/privateLock"))
        self.assertEqual(holder.wait(support.PATIENCE), 76, holder.stderr.read())
        self.assertEqual(self.run_cli("run", "-m", "P1", *self.credentials(), "--", "true").returncode, 0)
        (status, message), = self.access(*self.credentials())
        self.assertEqual(status, "warn")
        self.assertIn("each of them can end any lock", message)

    def test_without_credentials_nothing_else_is_expected(self):
        self.assertEqual(self.access(), [("ok", support.SERVER + " serves every client that reaches its port")])

    def test_a_server_that_wants_credentials_lets_no_stranger_end_a_session(self):
        strict = ZooKeepers(self, ensemble=False, count=1, options=[
            "enforce.auth.enabled=true", "enforce.auth.schemes=sasl",
            "authProvider.1=org.apache.zookeeper.server.auth.SASLAuthenticationProvider"])
        self.servers = strict.addresses()
        self.assertEqual(self.access(), [("ok", strict.address(0) + " serves no client without credentials")])
        # Sessions are given to anybody. This one is like another's, but that it cannot ask for anything.
        for address, ends in ((strict.address(0), False), (support.SERVER, True)):
            with intruder.Connection(address) as victim:
                self.assertTrue(intruder.lives(address, victim.session))
                for _ in range(20):
                    intruder.close_session(address, victim.session)
                self.assertEqual(intruder.lives(address, victim.session), not ends, address)


class WithCredentials(support.CliTest):
    makes_namespace = False

    def test_a_missing_namespace_is_not_made_either(self):
        digest = self.write("digest", "alice:secret\n")
        os.chmod(digest, 0o600)
        for arguments in (("ls",), ("doctor",)):
            result = self.run_cli("--set", "zookeeper.auth.digest.file=" + digest, *arguments)
            self.assertEqual(result.returncode, 78, result.stdout + result.stderr)
            self.assertIn("does not exist", result.stdout + result.stderr)
