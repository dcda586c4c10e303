"""What people meet: units, typos, waiting, freeing a lock, narrow terminals, completions."""

import json
import os
import pty
import re
import select
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import fcntl
import termios
import time
import unittest

import support


class Units(support.CliTest):
    def test_a_plain_small_number_is_said_to_be_milliseconds(self):
        result = self.run_cli("run", "-m", "P1", "--timeout", "50", "--", "true")
        self.assertIn("50 is 50 ms", result.stderr)
        self.assertIn("50s", result.stderr)

    def test_a_free_lock_that_comes_too_late_is_nobody_elses(self):
        for timeout in ("5ms", "10ms", "20ms", "50ms") * 3:
            result = self.run_cli("run", "-m", "P1", "--timeout", timeout, "--", "true")
            self.assertIn(result.returncode, (0, 75), result.stderr)
            self.assertNotIn("held by", result.stderr)
            self.assertNotIn("doctor", result.stderr)  # which would find nothing

    def test_other_durations_pass_without_a_word(self):
        for text in ("0", "100", "50ms", "2s", "1.5s", "5m", "1h", "3d"):
            result = self.run_cli("run", "-m", "P1", "--timeout", text, "--", "true")
            self.assertEqual((result.returncode, result.stderr), (0, ""), text)

    def test_a_short_time_for_the_lock_does_not_blame_the_network(self):
        self.hold("P1")
        self.ends(75, "run", "-m", "P1", "--timeout", "5ms", "--", "true")


class Waiting(support.CliTest):
    def test_a_person_is_told_what_is_waited_for(self):
        holder = self.hold("P1", "--info", "Bulk")
        waiter = self.start_cli("-v", "run", "-m", "P1", "--timeout", "1m", "--", "true")
        line = waiter.stderr.readline()
        self.assertIn("waiting for P1", line)
        self.assertIn("Bulk", line)
        self.assertIn("place 1", line)
        self.assertEqual(self.let_go(holder)[0], 0)
        self.assertEqual(waiter.wait(support.PATIENCE), 0)

    def test_next_in_line_is_behind_the_holder(self):
        self.hold("P1")
        result = self.run_cli("run", "-m", "P1", "--timeout", "300ms", "--", "true")
        self.assertIn("first in the queue, behind the holder", result.stderr)

    def test_quiet_silences_the_conflict_that_was_asked_for_and_no_other(self):
        self.hold("P1")
        ask = ("run", "-m", "P1", "--timeout", "0")
        result = self.run_cli("-q", *ask, "-E", "0", "--", "true")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for options in (("-q", *ask), (*ask, "-E", "0")):
            self.assertNotEqual(self.run_cli(*options, "--", "true").stderr, "", options)

    def test_a_command_under_its_own_lock_is_warned(self):
        self.ends(75, "run", "-m", "P1", "--", support.BINARY, "--zookeeper", self.connect_string(), "run",
                      "-m", "P1", "--timeout", "100", "--", "true", says="$FORELOCK_MONITOR")

    def test_info_that_is_cut_is_said(self):
        self.ends(0, "run", "-m", "P1", "--info", "x" * 20000, "--", "true", says="20000 bytes")
        self.assertEqual(self.run_cli("run", "-m", "P1", "--info", "x" * 2000, "--", "true").stderr, "")

    def test_an_expected_runtime_is_shown(self):
        self.hold("P1", "--expected-runtime", "1ms")
        support.wait_until(lambda: "overdue by" in self.run_cli("show", "P1").stdout, "it is overdue")
        self.assertIn("since ", self.run_cli("show", "P1").stdout)


class NoServerYet(support.OwnServerTest):
    """A server that comes later than a few attempts to connect."""

    def test_a_given_timeout_is_the_budget(self):
        options = ("--set", "zookeeper.connection.retry=1", "--set", "zookeeper.connection.delay=200ms")
        self.silence_server()
        waiting = [self.start_cli("run", *options, "-m", "P1", "--timeout", "1m", "--", "true"),
                   self.start_cli("wait", *options, "P1")]
        self.ends(69, "run", *options, "-m", "P1", "--", "true")
        self.wake_server()
        for child in waiting:
            self.assertEqual(child.wait(support.PATIENCE), 0)

    def test_watch_outlives_a_lost_connection(self):
        child = self.start_cli("watch", "--all", "-o", "ndjson", "--interval", "100ms",
                               "--set", "zookeeper.session.timeout=1000")
        holder = self.hold("P1")
        self.assertIn(json.loads(child.stdout.readline())["event"], ("held", "present"))
        self.silence_server()
        self.assertIn("trying again", child.stderr.readline())
        self.wake_server()
        self.let_go(holder)
        while json.loads(child.stdout.readline())["event"] != "released":
            pass
        child.terminate()


class Freeing(support.CliTest):
    def test_all_that_is_missing_is_one_message(self):
        result = self.ends(64, "release", "P1", says="--holder")
        self.assertIn("--reason", result.stderr)
        self.assertIn("forelock show P1", result.stderr)
        self.assertNotIn("--holder", self.run_cli("release", "P1", "--holder", "A-0000000000").stderr)

    def test_show_ends_with_the_command_which_works_as_it_stands(self):
        child = self.hold("it's a P1", script="trap 'exit 0' TERM; echo ready; while :; do sleep 0.05; done")
        shown = self.run_cli("show", "it's a P1")
        command = shown.stderr.splitlines()[-1].split("take it away: ")[1].replace("WHY", "hangs, on call")
        words = shlex.split(command)
        self.assertEqual(words[0], "forelock")
        result = subprocess.run([support.BINARY, *words[1:]], env=support.clean_environment(), capture_output=True,
                                text=True, timeout=60, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        # The victim is told what happened, by whom and why; so is who looks later.
        _, errors = child.communicate(timeout=support.PATIENCE)
        self.assertEqual(child.returncode, 76)
        self.assertIn("taken away by force", errors)
        self.assertIn("hangs, on call", errors)
        later = self.run_cli("show", "it's a P1")
        if later.returncode == 0:  # an idle monitor goes by itself
            self.assertRegex(later.stdout, "released by force .* ago by .*: hangs, on call")
            self.assertEqual(self.show("it's a P1")["forced_release"]["reason"], "hangs, on call")

    def test_a_release_that_is_refused_leaves_no_note(self):
        self.hold("P1")
        self.assertEqual(self.run_cli("release", "P1", "--holder", "A-0000000099", "--reason", "x").returncode, 1)
        self.assertNotIn("released by force", self.run_cli("show", "P1").stdout)

    def test_a_release_that_is_refused_lets_the_monitor_go(self):
        holder = self.hold("P1")
        self.assertEqual(self.run_cli("release", "P1", "--holder", "A-0000000000@1", "--reason", "x").returncode, 1)
        self.let_go(holder)
        support.wait_until(lambda: "P1" not in self.run_cli("ls", "--all", "--names").stdout.split(), "it is removed")


class Typos(support.CliTest):
    def test_an_unknown_command_has_no_help(self):
        for arguments in (("lss", "--help"), ("--help", "lss"), ("dqq", "list", "-h"),
                          ("dlq", "nosuch", "--help"), ("dlq", "-h", "lst"), ("config", "--help", "nosuch")):
            result = self.run_cli(*arguments, server=False)
            self.assertEqual((result.returncode, result.stdout), (64, ""), arguments)
            self.assertIn("unknown", result.stderr)

    def test_alone_it_prints_its_help(self):
        result = self.run_cli(server=False)
        self.assertEqual((result.returncode, result.stdout), (64, ""))
        self.assertIn("doctor", result.stderr)

    def test_a_server_is_no_address_of_the_web(self):
        result = self.ends(78, "--zookeeper", "http://zk1:2181", "ls", server=False, says="http://")
        self.assertIn("host:port", result.stderr)

    def test_what_others_call_it_leads_to_our_word(self):
        file = self.write("f.properties", "zookeeper.hosts=zk1:2181\nzookeeper.xyzzy=1\n")
        result = self.run_cli("config", "check", file, server=False)
        self.assertIn("zookeeper.servers", result.stderr.splitlines()[0])
        self.assertNotIn("nearest", result.stderr.splitlines()[1])

    def test_a_key_that_is_nearly_ours_is_doubted(self):
        file = self.write("f.properties", "zookeper.servers=zk1:2181\napplication.name=x\nmy.servers=y\n")
        result = self.run_cli("config", "check", file, server=False)
        self.assertEqual((result.returncode, result.stdout), (78, ""))
        self.assertIn("f.properties:1: zookeper.servers", result.stderr)
        self.assertIn("zookeeper.servers", result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1)

    def test_doubts_stand_beside_other_errors(self):
        digest = "zookeeper.auth.digest.file=" + self.path("none") + "\n"
        for others, key in (("zookeeper.session.timeout=soon\n", "zookeeper.session.timeout"),
                            (digest, "zookeeper.auth.digest.file"), ("kafka.acks=0\n", "kafka.acks")):
            file = self.write("f.properties", "zookeper.servers=zk1:2181\n" + others)
            result = self.ends(78, "-o", "json", "config", "check", file, server=False)
            self.assertEqual([problem["key"] for problem in self.error_of(result)["problems"]],
                             [key, "zookeper.servers"])
        result = self.run_cli("config", "check", self.write("f.yaml", "zookeper: {servers: a:1}\ndlq: {topic: '+'}\n"),
                              server=False)
        self.assertEqual((result.returncode, len(result.stderr.splitlines())), (78, 2), result.stderr)

    def test_and_so_it_is_in_yaml(self):
        file = self.write("f.yml", """zookeper:
  servers: zk1:2181
  session: {timeout: 3s}
application:
  zookeper.servers: of something else
  list: [{zookeper.servers: y}, zookeper.servers]
  ? [a key]
  : zookeper.servers
elastic:
  reqest.retry.count: 3
  request:
    retri:
      count: 4
""")
        result = self.run_cli("config", "check", file, server=False)
        self.assertEqual((result.returncode, result.stdout), (78, ""), result.stderr)
        lines = result.stderr.splitlines()
        doubts = ((2, "zookeper.servers", "zookeeper.servers"),
                  (3, "zookeper.session.timeout", "zookeeper.session.timeout"),
                  (10, "elastic.reqest.retry.count", "elastic.request.retry.count"),
                  (13, "elastic.request.retri.count", "elastic.request.retry.count"))
        for line, (number, key, meant) in zip(lines, doubts):
            self.assertIn(f"f.yml:{number}: {key}: ", line)
            self.assertIn(f"is {meant} meant?", line)
        self.assertEqual(len(lines), 4, lines)

    def test_what_java_programs_write_in_latin1_is_left_to_them(self):
        with open(self.path("f.properties"), "wb") as file:
            file.write(b"# K\xf6ln\napp.title=K\xf6ln\nzookeeper.servers=zk1:2181\n")
        result = self.run_cli("config", "check", file.name, server=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        result = self.run_cli("config", "parse", file.name, "-o", "json", server=False)
        self.assertEqual(json.loads(result.stdout), {"app.title": "Köln", "zookeeper.servers": "zk1:2181"})

    def test_and_so_it_is_at_every_load(self):
        file = self.write("f.properties", "zookeper.servers=zk1:2181\n")
        result = self.ends(0, "--config", file, "dlq", "list", "--set", "dlq.outbox.path=" + self.path("outbox.db"))
        self.assertEqual(result.stderr.count("f.properties:1: zookeper.servers"), 1)


class Dev(support.CliTest):
    def test_a_port_that_is_taken_is_not_used(self):
        port = support.SERVER.rpartition(":")[2]
        result = subprocess.run([support.BINARY, "dev", "--port", port, "--", "echo", "worked"],
                                env=support.clean_environment(TMPDIR=self.directory.name), capture_output=True,
                                text=True, timeout=60, check=False)
        self.assertEqual((result.returncode, result.stdout), (69, ""))
        self.assertIn(f"port {port} is taken", result.stderr)

    def test_a_server_that_is_faster_than_ours_is_not_taken_for_it(self):
        # Between the look at the port and the start of the server: the Java of this test starts another one there.
        os.makedirs(self.path("java/bin"))
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        script = self.write("java/bin/java", f"#!/bin/sh\ntouch {self.path('started')}\nexec sleep 3\n")
        os.chmod(script, 0o755)
        listener.close()
        child = subprocess.Popen([support.BINARY, "dev", "--port", str(port), "--", "echo", "worked"],
                                 env=support.clean_environment(TMPDIR=self.directory.name,
                                                               JAVA_HOME=self.path("java")),
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.children.append(child)
        support.wait_until(lambda: os.path.exists(self.path("started")), "its server starts")
        server = subprocess.Popen(["python3", "-c", FAKE_SERVER, str(port)])
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        output, errors = child.communicate(timeout=60)
        self.assertEqual((child.returncode, output), (69, ""), errors)

    def test_what_a_killed_one_left_goes_with_the_next(self):
        with tempfile.TemporaryDirectory() as directory:
            def folders():
                return [name for name in os.listdir(directory) if name.startswith("forelock-dev-")]
            def start():
                return subprocess.Popen([support.BINARY, "dev", "-o", "json"],
                                        env=support.clean_environment(TMPDIR=directory), stdout=subprocess.PIPE,
                                        text=True)
            killed, living = start(), start()
            self.children += [killed, living]
            killed.stdout.readline()
            living.stdout.readline()
            killed.kill()
            killed.wait()
            self.assertEqual(len(folders()), 2)
            self.assertEqual(subprocess.run([support.BINARY, "dev", "--", "true"], timeout=60, check=False,
                                            env=support.clean_environment(TMPDIR=directory)).returncode, 0)
            self.assertEqual(len(folders()), 1)
            living.terminate()
            living.wait()


# Answers srvr and conf like a server of somebody else's.
FAKE_SERVER = """
import socket, sys
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    connection, _ = listener.accept()
    word = connection.recv(4)
    connection.sendall(b"Zookeeper version: 3.8.0\\nMode: standalone\\n" if word == b"srvr" else
                       b"clientPort=1\\ndataDir=/elsewhere/version-2\\n")
    connection.close()
"""


class NarrowTerminal(support.CliTest):
    def shown(self, columns, *arguments):
        process, terminal = pty.fork()
        if process == 0:
            fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
            os.execve(support.BINARY, self.command("--color", "never", *arguments),
                      support.clean_environment(TERM="xterm"))
        text = b""
        while True:
            ready, _, _ = select.select([terminal], [], [], support.PATIENCE)
            self.assertTrue(ready)
            try:
                part = os.read(terminal, 65536)
            except OSError:
                break
            if not part:
                break
            text += part
        os.close(terminal)
        os.waitpid(process, 0)
        return text.decode().replace("\r", "").splitlines()

    def test_no_line_of_a_table_is_wider(self):
        self.hold("a-monitor-with-a-rather-long-name", "--info", "Bulk reindex of the whole catalogue, ä to ö")
        for columns in (60, 80, 200):
            lines = self.shown(columns, "ls")
            self.assertEqual(len(lines), 2, lines)
            self.assertLessEqual(max(len(line) for line in lines), columns, lines)
        self.assertIn("…", "".join(self.shown(80, "ls")))

    def test_nor_is_a_line_of_help(self):
        for columns in (60, 80, 120):
            for arguments in (("--help",), ("run", "--help"), ("dlq", "replay", "--help"), ("bench", "--help")):
                lines = self.shown(columns, *arguments)
                self.assertLessEqual(max(len(line) for line in lines), columns, lines)

    def test_in_a_pipe_nothing_is_cut(self):
        name = "a-monitor-with-a-rather-long-name"
        self.hold(name, "--info", "Bulk reindex of the whole catalogue")
        self.assertIn("Bulk reindex of the whole catalogue", self.run_cli("ls").stdout)


class Completion(support.CliTest):
    def setUp(self):
        super().setUp()
        os.makedirs(self.path("bin"))
        os.symlink(support.BINARY, self.path("bin/forelock"))
        self.environment = support.clean_environment(PATH=self.path("bin") + ":" + os.environ["PATH"],
                                                     FORELOCK_ZOOKEEPER=self.connect_string())
        self.hold("P-one")

    def script(self, shell):
        return self.run_cli("completion", shell, server=False).stdout

    @unittest.skipUnless(shutil.which("bash"), "no bash")
    def test_bash_knows_monitors(self):
        script = self.write("completion", self.script("bash"))
        for words in (("forelock", "show", ""), ("forelock", "run", "-m", "P"), ("forelock", "watch", "")):
            listed = " ".join(f"'{word}'" for word in words)
            command = (f"source {script}; COMP_WORDS=({listed}); COMP_CWORD={len(words) - 1}; _forelock; "
                       "printf '%s\\n' \"${COMPREPLY[@]}\"")
            result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=self.environment,
                                    timeout=60, check=True)
            self.assertEqual((result.stdout.split(), result.stderr), (["P-one"], ""), words)

    @unittest.skipUnless(shutil.which("fish"), "no fish")
    def test_fish_completes(self):
        script = self.write("completion", self.script("fish"))

        def complete(line):
            result = subprocess.run(["fish", "-N", "-c", f"source {script}; complete -C '{line}'"], timeout=60,
                                    capture_output=True, text=True, env=self.environment, check=True)
            self.assertEqual(result.stderr, "")
            return [entry.split("\t")[0] for entry in result.stdout.splitlines()]
        self.assertEqual(complete("forelock sho"), ["show"])
        self.assertEqual(complete("forelock show "), ["P-one"])
        self.assertEqual(complete("forelock run -m "), ["P-one"])
        self.assertIn("replay", complete("forelock dlq re"))
        self.assertIn("ls", complete("forelock run -m x -- l"))

    @unittest.skipUnless(shutil.which("zsh"), "no zsh")
    def test_zsh_completes_from_the_first_time_on(self):
        os.makedirs(self.path("zsh"))
        self.write("zsh/_forelock", self.script("zsh"))
        for typed, completed in (("forelock sho", "show"), ("forelock dlq repl", "replay"),
                                 ("forelock run -p b", "background"), ("forelock show ", "P-one")):
            self.zsh(typed, completed)

    def zsh(self, typed, completed):
        process, terminal = pty.fork()
        if process == 0:
            os.execvpe("zsh", ["zsh", "-f"], dict(self.environment, TERM="dumb", ZDOTDIR=self.path("zsh")))
        seen = b""

        def read_until(pattern):
            nonlocal seen
            while not re.search(pattern, seen):
                ready, _, _ = select.select([terminal], [], [], support.PATIENCE)
                self.assertTrue(ready, (typed, seen))
                seen += os.read(terminal, 4096)
            seen = b""
        setup = f"fpath=({self.path('zsh')} $fpath); autoload -U compinit; compinit -u -D; echo RE''ADY\n"
        os.write(terminal, setup.encode())
        read_until(b"READY\r")
        os.write(terminal, (typed + "\t").encode())
        read_until(re.escape(completed.encode()))
        os.write(terminal, b"\x03exit\n")
        os.close(terminal)
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
