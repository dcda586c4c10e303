"""The command with two ensembles: the server of all these tests, and one of this test's own."""

import json

import support

QUICK = ("--set", "zookeeper.session.timeout=1000")  # the patience of what only looks


class TwoEnsembles(support.OwnServerTest):
    def servers(self):
        return [support.SERVER + self.namespace, self.address + self.namespace]

    def connect_string(self):
        return "|".join(self.servers())

    def of_one(self, number, *arguments):
        return self.run_cli("--zookeeper", self.servers()[number], *arguments, server=False)

    def maps(self):
        result = self.run_cli("ensembles", "-o", "json")
        return result.returncode, [one["map"] for one in json.loads(result.stdout)["ensembles"]]

    def test_every_command_finds_the_monitor(self):
        names = [f"document-{i}" for i in range(6)]
        holders = [self.hold(name) for name in names]
        self.assertEqual(sorted(view["monitor"] for view in self.json_of("ls")["monitors"]), names)
        for name in names:
            self.assertEqual(self.run_cli("run", "-m", name, "--timeout", "50ms", "--", "true").returncode, 75)
            self.assertEqual(len(self.json_of("show", name)["queue"]), 0)
        view = self.holder(names[0])
        holder = f"{view['node']}@{view['token']}"
        self.assertEqual(self.run_cli("release", names[0], "--holder", holder, "--reason", "test").returncode, 0)
        self.assertEqual(holders[0].wait(support.PATIENCE), 76)
        for child in holders[1:]:
            self.assertEqual(self.let_go(child)[0], 0)
        self.assertEqual(self.run_cli("sweep", "--older-than", "0s").returncode, 0)
        every = sum((["-m", name] for name in names), [])
        self.assertEqual(self.run_cli("run", *every, "--", "true").returncode, 0)
        self.assertEqual(self.run_cli("doctor").returncode, 0)

    def test_one_of_them_alone_is_refused_by_every_command(self):
        self.assertEqual(self.run_cli("run", "-m", "P1", "--", "true").returncode, 0)
        for arguments in (["run", "-m", "P1", "--", "true"], ["ls"], ["show", "P1"], ["sweep"], ["doctor"],
                          ["wait", "P1"]):
            for number in (0, 1):
                result = self.of_one(number, *arguments)
                self.assertEqual(result.returncode, 78, (arguments, result.stdout, result.stderr))
                self.assertIn("one of the ensembles", result.stdout + result.stderr)

    def test_what_only_looks_makes_neither_namespaces_nor_the_map(self):
        result = self.run_cli("ls")
        self.assertEqual(result.returncode, 78)
        self.assertIn(f"the chroot {self.namespace} does not exist at this ensemble (a typo?): {self.address}",
                      result.stderr)
        self.assertEqual(self.of_one(1, "run", "-m", "P1", "--", "true").returncode, 0)
        for arguments, code in ((["ls"], 0), (["show", "P1"], 1), (["wait", "P1"], 0), (["sweep"], 0),
                                (["watch", "--count", "1"], 0), (["doctor"], 0), (["doctor", "--quick"], 0)):
            result = self.run_cli(*arguments)
            self.assertEqual(result.returncode, code, (arguments, result.stdout, result.stderr))
        self.assertEqual(self.maps(), (0, ["none", "none"]))

    def test_a_benchmark_is_of_one(self):
        result = self.run_cli("bench")
        self.assertEqual(result.returncode, 64)
        self.assertIn("one ensemble", result.stderr)

    def test_the_map_is_shown_and_forgotten(self):
        self.assertEqual(self.maps(), (0, ["none", "none"]))
        self.assertEqual(self.run_cli("run", "-m", "P1", "--", "true").returncode, 0)
        self.assertEqual(self.maps(), (0, ["agreed", "agreed"]))
        one = self.of_one(0, "ensembles")
        self.assertEqual(one.returncode, 78)
        self.assertIn("is one of the ensembles", one.stdout)
        refused = self.run_cli("ensembles", "--forget")
        self.assertEqual(refused.returncode, 64)
        self.assertIn("--all-clients-are-stopped", refused.stderr)
        self.assertEqual(self.maps(), (0, ["agreed", "agreed"]))
        self.assertEqual(self.run_cli("ensembles", "--forget", "--all-clients-are-stopped").returncode, 0)
        self.assertEqual(self.maps(), (0, ["none", "none"]))
        self.assertEqual(self.of_one(0, "run", "-m", "P1", "--", "true").returncode, 0)

    def one_in_each(self):
        """A monitor of the server that stays, and one of the server that can be silenced."""
        self.assertEqual(self.run_cli("run", "-m", "P", "--", "true").returncode, 0)  # makes the map
        self.silence_server()
        found = {}
        for number in range(64):
            code = self.run_cli(*QUICK, "show", f"P{number}").returncode
            found.setdefault(code, f"P{number}")
            if len(found) == 2:
                break
        self.wake_server()
        self.assertEqual(set(found), {1, 69})
        return found[1], found[69]

    def test_show_tells_what_it_sees_beside_a_silent_ensemble(self):
        near, far = self.one_in_each()
        for others in ((), ("a", "b", "c", "d")):  # the records name four members, and no more
            options = [option for name in (far, *others) for option in ("-m", name)]
            holder = self.hold(near, *options, "--on-lost", "warn", "--info", "Save Content")
            view = self.show(near)
            self.assertEqual(view["set"]["held_count"], 2 + len(others))
            self.assertNotIn("set_error", view)
            self.silence_server()
            self.assertEqual(self.run_cli(*QUICK, "show", far).returncode, 69)
            result = self.run_cli(*QUICK, "show", near)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("Save Content", result.stdout)
            self.assertRegex(result.stdout, "\n  set       cannot be seen now: no connection to ZooKeeper .*"
                             + self.address)
            self.assertIn("to take it away: ", result.stderr)
            view = json.loads(self.run_cli(*QUICK, "-o", "json", "show", near).stdout)
            self.assertEqual(view["holder"]["owner"]["lockInfo"], "Save Content")
            self.assertNotIn("set", view)
            self.assertEqual(view["set_error"]["code"], "connection_loss")
            self.wake_server()
            self.let_go(holder)

    def test_a_loss_names_a_member_of_the_silent_ensemble(self):
        near, far = self.one_in_each()
        child = self.hold(near, "-m", far, "--set", "zookeeper.session.timeout=4000",
                          script="echo ready; exec sleep 1000")
        self.silence_server()
        _, told = child.communicate(timeout=support.PATIENCE)
        self.assertEqual(child.returncode, 76)
        self.assertIn(f"the lock on {far} was lost", told)
        self.assertIn(f"forelock show {far}", told)

    def test_what_needs_all_names_the_one_that_is_silent(self):
        near, _ = self.one_in_each()
        self.hold(near)
        self.silence_server()
        for arguments in (["ls"], ["sweep"]):
            result = self.run_cli(*QUICK, *arguments)
            self.assertEqual(result.returncode, 69, arguments)
            self.assertIn("no connection to ZooKeeper (" + self.servers()[1], result.stderr, arguments)


if __name__ == "__main__":
    support.main()
