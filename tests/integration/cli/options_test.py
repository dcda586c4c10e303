"""Options, precedence, configuration, usage errors, streams that are closed, completions and the manual."""

import json
import os
import shutil
import subprocess
import unittest

import support


class Usage(support.CliTest):
    def usage_error(self, *arguments):
        result = self.run_cli(*arguments, server=False)
        self.assertEqual(result.returncode, 64, (arguments, result.stdout, result.stderr))
        self.assertEqual(result.stdout, "")
        return result.stderr

    def test_wrong_command_lines_are_64(self):
        for arguments in (("run",), ("run", "-m", "P1"), ("run", "-m", "P1", "--"), ("run", "--", "true"),
                          ("show",), ("release", "P1"), ("prioritize", "P1"),
                          ("prioritize", "P1", "--waiter", "B-1", "--class", "urgent", "--reason", "x"),
                          ("show", "P1", "P2"), ("run", "-m", "P1", "-p", "urgent", "--", "true"), ("wait", "P1",
                                                                                                    "--timeout",
                                                                                                    "soon"),
                          ("run", "-m", "P1", "--timeout", "-1", "--", "true"), ("run", "-m", "P1", "-E", "256", "--",
                                                                                 "true"),
                          ("run", "-m", "P1", "--on-lost", "panic", "--", "true"), ("ls", "-o", "xml"), ("ls", "--set",
                                                                                                         "novalue"),
                          ("completion",), ("completion", "tcsh"), ("config", "nonsense"), ("ls", "--color", "pink"),
                          ("run", "-m", "P1", "--type", "x", "--", "true"),
                          ("run", "-m", "P1", "--retry", "-E", "1", "--", "true"), ("dlq",), ("dlq", "nonsense"),
                          ("dlq", "show"), ("dlq", "list", "--limit", "-1"), ("dlq", "list", "--since", "soon"),
                          ("dlq", "park"), ("dlq", "purge", "--yes"), ("dlq", "purge", "--all", "some-id"),
                          ("dlq", "replay", "--execute"), ("dlq", "replay", "--exec", "x", "--to-topic", "y"),
                          ("dlq", "replay", "--rate", "0"), ("dlq", "replay", "--concurrency", "0"),
                          ("dlq", "init", "--partitions", "0")):
            self.usage_error(*arguments)

    def test_unknown_words_get_the_nearest_known_one(self):
        self.assertIn("'show'", self.usage_error("shwo", "P1"))
        self.assertIn("'doctor'", self.usage_error("docter"))
        self.assertIn("'run'", self.usage_error("lock", "P1"))
        self.assertIn("'release'", self.usage_error("unlock", "P1"))
        self.assertIn("'--timeout'", self.usage_error("wait", "P1", "--timeuot", "5"))
        self.assertIn("'--zookeeper'", self.usage_error("--zookeper", "x", "ls"))
        self.assertIn("'--all'", self.usage_error("ls", "--al"))
        self.assertNotIn("did you mean", self.usage_error("xyzzyplugh"))
        self.assertNotIn("did you mean", self.usage_error("show", "P1", "P2"))

    def test_usage_errors_are_json_too(self):
        for arguments in (("-o", "json", "lss"), ("lss", "-o", "json"), ("lss", "--output=json"), ("lss", "-ojson")):
            error = json.loads(self.usage_error(*arguments))["error"]
            self.assertEqual((error["code"], error["retryable"]), ("usage", False))

    def test_help_and_version(self):
        for arguments in (("--help",), ("run", "--help"), ("config", "check", "--help"),
                          ("dlq", "--help"), ("dlq", "replay", "--help")):
            result = self.run_cli(*arguments, server=False)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertIn("forelock", result.stdout)
        for words in (("--version",), ("-V",), ("version",)):
            self.assertRegex(self.run_cli(*words, server=False).stdout, r"^forelock [0-9]+\.[0-9]+\.[0-9]+\n$")
        for words in ((), ("run",), ("config", "check"), ("dlq",)):
            asked, meant = (self.run_cli(*said, server=False) for said in (("help", *words), (*words, "--help")))
            self.assertEqual((asked.returncode, asked.stdout, asked.stderr), (0, meant.stdout, ""))
        self.assertIn("unknown command 'shwo'", self.usage_error("help", "shwo"))


class Precedence(support.CliTest):
    def settings(self, *arguments, **environment):
        result = self.ends(0, "config", "-o", "json", *arguments, server=False, **environment)
        return {entry["key"]: (entry["value"], entry["origin"]) for entry in json.loads(result.stdout)["settings"]}

    def test_global_options_stand_before_or_behind_the_command(self):
        before = self.run_cli("-o", "json", "--set", "dlq.topic=T", "config", server=False)
        behind = self.run_cli("config", "--set", "dlq.topic=T", "-o", "json", server=False)
        self.assertEqual((before.returncode, before.stdout), (0, behind.stdout))

    def test_set_and_zookeeper_over_file_over_default(self):
        file = self.write("f.properties", "# comment\nzookeeper.servers=file:1\nzookeeper.session.timeout=7000\n")
        self.assertEqual(self.settings()["zookeeper.servers"], ("localhost:2181", "default"))
        found = self.settings("--config", file)
        self.assertEqual(found["zookeeper.servers"], ("file:1", file + ":2"))
        self.assertEqual(found["zookeeper.session.timeout"], ("7000", file + ":3"))
        found = self.settings("--config", file, "--zookeeper", "option:2")
        self.assertEqual(found["zookeeper.servers"], ("option:2", "--zookeeper"))
        found = self.settings("--config", file, "--set", "zookeeper.session.timeout=8s")
        self.assertEqual(found["zookeeper.session.timeout"], ("8000", "--set"))

    def test_the_environment_names_the_file(self):
        file = self.write("f.properties", "zookeeper.servers=file:1\n")
        other = self.write("other.yaml", "zookeeper:\n  servers: yaml:1\n")
        self.assertEqual(self.settings(FORELOCK_CONFIG=file)["zookeeper.servers"][0], "file:1")
        self.assertEqual(self.settings("--config", other, FORELOCK_CONFIG=file)["zookeeper.servers"][0], "yaml:1")

    def test_the_environments_servers_are_over_the_file_and_under_options(self):
        file = self.write("f.properties", "zookeeper.servers=file:1\n")
        self.assertEqual(self.settings(FORELOCK_ZOOKEEPER="env:3")["zookeeper.servers"], ("env:3",
                                                                                          "$FORELOCK_ZOOKEEPER"))
        self.assertEqual(self.settings("--config", file, FORELOCK_ZOOKEEPER="env:3")["zookeeper.servers"][0], "env:3")
        self.assertEqual(self.settings(FORELOCK_CONFIG=file, FORELOCK_ZOOKEEPER="env:3")["zookeeper.servers"][0],
                         "env:3")
        self.assertEqual(self.settings("--set", "zookeeper.servers=set:4", FORELOCK_ZOOKEEPER="env:3")
                         ["zookeeper.servers"][0], "set:4")
        self.assertEqual(self.settings("--zookeeper", "option:2", FORELOCK_ZOOKEEPER="env:3")["zookeeper.servers"][0],
                         "option:2")

    def test_settings_reach_the_server(self):
        file = self.write("f.properties",
                          f"zookeeper.servers={self.connect_string()}\n"
                          "zookeeper.foregound.lock.prefix=F\nzookeeper.backgound.lock.prefix=G\n")
        result = self.ends(0, "run", "--config", file, "-m", "P1", "-p", "background", "--", support.BINARY, "show",
                              "P1", "--config", file,
                              "-o", "json", server=False)
        self.assertRegex(json.loads(result.stdout)["holder"]["node"], "^G-")


class Config(support.CliTest):
    def test_bad_settings_are_78_with_file_line_and_key(self):
        file = self.write("bad.properties",
                          "\nzookeeper.servers=h:1\nzookeeper.sesion.timeout=5\nelastic.request.retry.count=many\n")
        for arguments in (("config", "check", file), ("ls", "--config", file)):
            result = self.run_cli(*arguments, server=False)
            self.assertEqual((result.returncode, result.stdout), (78, ""))
            lines = result.stderr.splitlines()
            self.assertTrue(lines[0].startswith(file + ":3: zookeeper.sesion.timeout: "), lines)
            self.assertIn("zookeeper.session.timeout", lines[0])
            self.assertTrue(lines[1].startswith(file + ":4: elastic.request.retry.count: "), lines)

    def test_bad_settings_as_json(self):
        file = self.write("bad.properties", "zookeeper.session.timeout=soon\n")
        result = self.ends(78, "config", "check", file, "-o", "json", server=False)
        error = self.error_of(result)
        self.assertEqual((error["code"], error["retryable"]), ("configuration", False))
        self.assertEqual((error["problems"][0]["line"], error["problems"][0]["key"]), (1, "zookeeper.session.timeout"))

    def test_other_faults_are_78_too(self):
        self.assertEqual(self.run_cli("config", "check", self.path("missing.properties"), server=False).returncode, 78)
        self.assertEqual(self.run_cli("ls", "--set", "no.such.key=1", server=False).returncode, 78)
        self.assertEqual(self.run_cli("ls", "--set", "zookeeper.session.timeout=x", server=False).returncode, 78)
        self.assertEqual(self.run_cli("ls", "--zookeeper", "host:notaport", server=False).returncode, 78)
        self.assertEqual(self.run_cli("ls", server=False, FORELOCK_ZOOKEEPER="host:notaport").returncode, 78)

    def test_check_of_a_good_file(self):
        file = self.write("good.yaml", "zookeeper:\n  servers: h:1\nother: 5\n")
        result = self.run_cli("config", "check", file, server=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_parse_reads_as_java_does(self):
        file = self.write("p.properties", "# c\na = 1\nb:two\\\n   more\nc\\ d=\\u00e4\\t\na=again\nempty\n")
        result = self.ends(0, "config", "parse", file, "-o", "json", server=False)
        self.assertEqual(json.loads(result.stdout), {"a": "again", "b": "twomore", "c d": "ä\t", "empty": ""})
        self.assertIn("b = twomore", self.run_cli("config", "parse", file, server=False).stdout)

    def test_secrets_are_masked(self):
        file = self.write("s.properties", "kafka.sasl.password=hunter2\n")
        for arguments in ((), ("-o", "json"), ("-o", "ndjson")):
            result = self.run_cli("config", "--config", file, *arguments, server=False)
            self.assertIn("kafka.sasl.password", result.stdout)
            self.assertNotIn("hunter2", result.stdout + result.stderr)


class Streams(support.CliTest):
    def test_a_reader_that_goes_away_is_no_error(self):
        reading, writing = os.pipe()
        os.close(reading)
        result = subprocess.run([support.BINARY, "completion", "bash"], env=support.clean_environment(), stdout=writing,
                                stderr=subprocess.PIPE, text=True, check=False)
        os.close(writing)
        self.assertEqual((result.returncode, result.stderr), (141, ""))

    def test_closed_streams_do_no_harm(self):
        command = f'"{support.BINARY}" --zookeeper {self.connect_string()} run -m P1 -- sh -c "exit 3" <&- >&- 2>&-'
        self.assertEqual(subprocess.run(["sh", "-c", command], env=support.clean_environment(),
                                        check=False).returncode, 3)

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_a_full_disk_is_said(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            result = subprocess.run([support.BINARY, "manpage"], env=support.clean_environment(), stdout=full,
                                    stderr=subprocess.PIPE,
                                    text=True, check=False)
        self.assertEqual(result.returncode, 74)
        self.assertIn("cannot write", result.stderr)


class Generated(support.CliTest):
    COMMANDS = ["run", "ls", "show", "watch", "serve", "wait", "release", "prioritize", "sweep", "audit", "dlq",
                "config", "doctor", "dev", "completion", "manpage"]

    def test_completions_name_every_command(self):
        for shell in ("bash", "zsh", "fish"):
            text = self.run_cli("completion", shell, server=False).stdout
            for command in self.COMMANDS:
                self.assertIn(command, text)

    def complete(self, *words):
        script = self.write("completion", self.run_cli("completion", "bash", server=False).stdout)
        listed = " ".join(f"'{word}'" for word in words)
        command = (f"source {script}; COMP_WORDS=({listed}); COMP_CWORD={len(words) - 1}; _forelock; "
                   "printf '%s\\n' \"${COMPREPLY[@]}\"")
        result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
        self.assertEqual(result.stderr, "")
        return result.stdout.split()

    @unittest.skipUnless(shutil.which("bash"), "no bash")
    def test_bash_completes(self):
        self.assertEqual(self.complete("forelock", "sh"), ["show"])
        self.assertEqual(self.complete("forelock", "-o", "j"), ["json"])
        self.assertEqual(self.complete("forelock", "run", "-p", "b"), ["background"])
        self.assertIn("--on-lost", self.complete("forelock", "run", "--o"))
        self.assertEqual(self.complete("forelock", "config", "pa"), ["parse"])
        self.assertEqual(self.complete("forelock", "-q", "ls", "--al"), ["--all"])
        self.assertEqual(self.complete("forelock", "dlq", "repl"), ["replay"])
        self.assertIn("--exec", self.complete("forelock", "dlq", "replay", "--ex"))
        self.assertEqual(self.complete("forelock", "dlq", "watch", "--re"), ["--reason"])
        self.assertEqual(self.complete("forelock", "dlq", "show", "x"), [])
        self.assertIn("--payload", self.complete("forelock", "dlq", "show", "--p"))

    @unittest.skipUnless(shutil.which("zsh"), "no zsh")
    def test_zsh_takes_the_script(self):
        script = self.write("completion", self.run_cli("completion", "zsh", server=False).stdout)
        subprocess.run(["zsh", "-n", script], check=True)

    @unittest.skipUnless(shutil.which("fish"), "no fish")
    def test_fish_takes_the_script(self):
        script = self.write("completion", self.run_cli("completion", "fish", server=False).stdout)
        subprocess.run(["fish", "--no-execute", script], check=True)

    def test_the_manual_names_every_command_and_option(self):
        text = self.run_cli("manpage", server=False).stdout
        self.assertTrue(text.startswith(".TH FORELOCK 1"))
        for word in self.COMMANDS + ["dlq replay", "\\-\\-max\\-replays", "FORELOCK_DLQ_TRIES",
                                     "\\-\\-on\\-lost", "\\-\\-zookeeper", "FORELOCK_TOKEN", "EXIT STATUS",
                                     "SH DESCRIPTION", "SH EXAMPLES", "SH FILES", "SH SEE ALSO"]:
            self.assertIn(word, text)

    @unittest.skipUnless(shutil.which("man"), "no man")
    def test_the_manual_is_clean_troff(self):
        page = self.write("forelock.1", self.run_cli("manpage", server=False).stdout)
        environment = dict(os.environ, MANPAGER="cat", LC_ALL="C.UTF-8")
        result = subprocess.run(["man", "--warnings", "-l", page], env=environment, capture_output=True, text=True,
                                check=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
