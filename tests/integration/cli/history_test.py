"""forelock serve --history: who held what when, across restarts, and beside files that cannot be used."""

import datetime
import json
import os
import resource
import signal
import stat
import subprocess

import support
from serve_test import ServeTest
from support import wait_until

ANNA = "a" * 40


def now():
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds")


def limit_files():
    """No file grows any more; a write beyond fails, as on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, resource.RLIM_INFINITY))


class HistoryTest(ServeTest, support.CliTest):
    def setUp(self):
        super().setUp()
        self.file = self.path("history.db")

    def past(self, monitor, query=""):
        return self.get(f"/api/history/{monitor}{query}")

    def stays(self, monitor):
        return self.past(monitor)["stays"]

    def metric(self, name):
        lines = self.request("/metrics")[1].splitlines()
        return next(float(line.split()[1]) for line in lines if line.startswith(name + " "))

    def at(self, instant, monitor="P1"):
        return self.past(monitor, "?at=" + instant.replace("+", "%2B"))

    def wait_held(self, monitor):
        wait_until(lambda: any(stay["to"] is None for stay in self.stays(monitor)), "it is in the history")


class Past(HistoryTest):
    def test_holds_and_waits_are_kept_with_who_and_how_they_ended(self):
        self.serve("--history", self.file)
        first = self.hold("P1", "--info", "Save")
        self.start_cli("run", "-m", "P1", "-p", "background", "--info", "Next", "--timeout", "60s", "--",
                       "sleep", "1000")
        wait_until(lambda: len(self.stays("P1")) == 2, "both are in the history")
        token = self.holder("P1")["token"]
        moment = now()
        wait_until(lambda: self.at(moment)["watched"], "a later look")
        self.let_go(first)
        wait_until(lambda: len(self.stays("P1")) == 3, "the next one holds it")
        hold, wait, before = self.stays("P1")
        self.assertEqual([hold[name] for name in ("kind", "info", "priority", "to", "outcome")],
                         ["hold", "Next", "background", None, None])
        self.assertEqual([wait[name] for name in ("kind", "info", "outcome", "token")],
                         ["wait", "Next", "granted", None])
        self.assertEqual([before[name] for name in ("kind", "info", "priority", "token")],
                         ["hold", "Save", "foreground", token])
        self.assertLess(before["from"], wait["from"])
        self.assertEqual(wait["to"], hold["from"])
        then = self.at(moment)
        self.assertEqual((then["holder"]["info"], [each["info"] for each in then["waiting"]]), ("Save", ["Next"]))
        self.assertEqual(then["holder"]["who"], before["who"])
        self.assertNotIn("session", json.dumps([then, hold]))
        self.assertEqual(self.past("never")["stays"], [])
        (part,) = [part for part in self.past("P1")["waits"] if part["foreground"] or part["background"]]
        waited = (datetime.datetime.fromisoformat(wait["to"]) - datetime.datetime.fromisoformat(wait["from"]))
        expected = round(waited.total_seconds() * 1000)
        self.assertEqual((part["foreground"], part["background"]),
                         (None, {"count": 1, "p50_ms": expected, "p99_ms": expected}))
        self.assertEqual(self.metric("forelock_history_writable"), 1)
        self.assertEqual(stat.S_IMODE(os.stat(self.file).st_mode), 0o600)

    def test_questions_that_are_none_are_refused(self):
        self.serve("--history", self.file)
        for query in ("?at=noon", "?from=1m&to=1h", "?limit=0", "?at=1m&at=2m", "?session=1"):
            response, body = self.request("/api/history/P1" + query)
            self.assertEqual((response.status, json.loads(body)["error"]["code"]), (400, "invalid_argument"), query)
        head, body = self.request("/api/history/P1", "HEAD")
        self.assertEqual((head.status, body), (200, ""))

    def test_without_the_option_there_is_none(self):
        self.serve()
        response, body = self.request("/api/history/P1")
        self.assertEqual((response.status, json.loads(body)["error"]["code"]), (404, "no_history"))
        self.assertNotIn("forelock_history", self.request("/metrics")[1])

    def test_forced_release_is_named(self):
        tokens = self.write("tokens", f"anna {ANNA}\n")
        os.chmod(tokens, 0o600)
        self.serve("--history", self.file, "--admin", tokens)
        self.hold("P1", script="echo ready; exec sleep 1000")
        self.wait_held("P1")
        holder = self.holder("P1")
        bearer = {"Authorization": "Bearer " + ANNA}
        csrf = json.loads(self.request("/api/admin", **bearer)[1])["csrf"]
        act = {"holder": f"{holder['node']}@{holder['token']}", "reason": "it hangs"}
        response, body = self.request("/api/monitors/P1/release", "POST", json.dumps(act), X_Forelock_CSRF=csrf,
                                      Content_Type="application/json", **bearer)
        self.assertEqual(response.status, 200, body)
        stay = wait_until(lambda: next((each for each in self.stays("P1") if each["outcome"]), None), "its end")
        self.assertEqual((stay["outcome"], stay["reason"]), ("forced", "anna: it hangs"))

    def test_unlocker_is_named(self):
        self.serve("--history", self.file, "--unlocker")
        self.hold("P1", "--auto-unlock-after", "1s", script="echo ready; exec sleep 1000")
        stay = wait_until(lambda: next((each for each in self.stays("P1") if each["outcome"]), None), "its end")
        self.assertEqual(stay["outcome"], "unlocked")
        self.assertIn("is over", stay["reason"])


def has_processes(group):
    try:
        os.killpg(group, 0)
        return True
    except ProcessLookupError:
        return False


class Dev(HistoryTest):
    def test_example_shows_chains_and_leaves_nothing(self):
        dev = subprocess.Popen([support.BINARY, "dev", "--serve", "-o", "json"], text=True, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, env=support.clean_environment(TMPDIR=self.directory.name))
        self.children.append(dev)
        directory = json.loads(dev.stdout.readline())["data_dir"]
        self.port = int(json.loads(dev.stdout.readline())["url"].split(":")[2].strip("/"))
        self.wait_ready()
        wait_until(lambda: self.get("/api/chains")["worst"], "there is a chain of waits")
        wait_until(lambda: self.stays("P1"), "there is a past")
        with open(f"/proc/{dev.pid}/task/{dev.pid}/children", encoding="ascii") as file:
            children = [int(child) for child in file.read().split()]
        self.assertEqual(len(children), 3)
        dev.terminate()
        self.assertEqual(dev.wait(support.PATIENCE), 0)
        wait_until(lambda: not any(support.is_alive(child) for child in children), "all have ended")
        self.assertFalse(os.path.exists(directory))

    def test_example_ends_with_it_though_it_is_killed(self):
        dev = subprocess.Popen([support.BINARY, "dev", "--serve", "-o", "json"], text=True, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, env=support.clean_environment(TMPDIR=self.directory.name))
        self.children.append(dev)
        dev.stdout.readline()
        self.port = int(json.loads(dev.stdout.readline())["url"].split(":")[2].strip("/"))
        self.wait_ready()
        wait_until(lambda: self.get("/api/monitors")["monitors"], "the load has begun")
        with open(f"/proc/{dev.pid}/task/{dev.pid}/children", encoding="ascii") as file:
            groups = [int(child) for child in file.read().split()]
        dev.kill()
        dev.wait()
        wait_until(lambda: not any(has_processes(group) for group in groups), "all have ended")

    def test_example_and_a_command_exclude_each_other(self):
        self.assertEqual(self.run_cli("dev", "--serve", "--", "true", server=False).returncode, 64)


class Restart(HistoryTest):
    def test_killed_and_back(self):
        self.serve("--history", self.file)
        stays = self.hold("P1", "--info", "stays")
        goes = self.hold("P2", "--info", "goes")
        for monitor in ("P1", "P2"):
            self.wait_held(monitor)
        wait_until(lambda: self.past("P1")["watched"], "a look is on record")
        self.serving.kill()
        self.serving.wait()
        between = now()
        self.let_go(goes)
        self.serve("--history", self.file)
        ended = wait_until(lambda: next((each for each in self.stays("P2") if each["to"]), None), "its end is seen")
        self.assertEqual(ended["outcome"], "unseen")
        self.assertLess(ended["to"], between)
        self.assertEqual([each["to"] for each in self.stays("P1")], [None])  # one hold, which goes on
        self.assertFalse(self.at(between)["watched"])
        self.let_go(stays)

    def test_second_process_says_that_the_file_is_taken(self):
        self.serve("--history", self.file)
        self.hold("P1")
        self.wait_held("P1")
        self.serve("--history", self.file)
        self.wait_ready()
        response, body = self.request("/api/history/P1")
        self.assertEqual(response.status, 503)
        self.assertIn("another process has it", json.loads(body)["error"]["message"])


class Trouble(HistoryTest):
    def test_damaged_file_costs_the_history_alone(self):
        self.write("history.db", "x" * 5000)
        self.serve("--history", self.file)
        self.hold("P1")
        self.wait_ready()
        problem = wait_until(lambda: self.get("/api/monitors")["history_problem"], "the page says so")
        self.assertIn("damaged: move it away", problem)
        self.assertEqual(self.metric("forelock_history_writable"), 0)
        self.assertEqual(self.request("/api/history/P1")[0].status, 503)
        self.assertEqual(os.path.getsize(self.file), 5000)
        os.rename(self.file, self.path("damaged"))
        wait_until(lambda: self.metric("forelock_history_writable") == 1, "a new file is made")
        self.wait_held("P1")
        self.assertIsNone(self.get("/api/monitors")["history_problem"])

    def test_full_disk_costs_the_history_alone(self):
        self.serving = self.start_cli("serve", "--listen", "127.0.0.1:0", "-o", "json", "--history", self.file,
                                      preexec_fn=limit_files)
        self.port = int(json.loads(self.serving.stdout.readline())["url"].split(":")[2].strip("/"))
        self.wait_ready()
        wait_until(lambda: self.get("/api/monitors")["history_problem"], "the page says so")
        self.hold("P1")
        wait_until(lambda: self.row("P1"), "the page goes on")
        self.assertEqual(self.metric("forelock_history_writable"), 0)
        resource.prlimit(self.serving.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        wait_until(lambda: self.metric("forelock_history_writable") == 1, "there is room again")
        self.wait_held("P1")

    def test_wrong_sizes_are_refused(self):
        for size in ("x", "1000", "-1"):
            result = self.run_cli("serve", "--listen", "127.0.0.1:0", "--history", self.file, "--history-size=" + size)
            self.assertEqual(result.returncode, 64, result.stderr)


if __name__ == "__main__":
    support.main()
