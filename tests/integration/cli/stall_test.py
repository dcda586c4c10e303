"""Drainers, forwarders and guardians that are stopped for longer than their session, or killed, at each of their steps.

A step is a call that changes a file or sends to a socket, counted by the fault shim. One process in four is hurt at any
moment instead. FORELOCK_LONG=N makes it N rounds of each kind; they follow from FORELOCK_SEED.
"""

import json
import os
import random
import signal
import subprocess

import dlq_drill_test
import dlq_kafka_test
import support

ROUNDS = int(os.environ.get("FORELOCK_LONG", "0")) or 4
SEED = int(os.environ.get("FORELOCK_SEED", "20261122"))
SHIM = os.environ.get("FORELOCK_FAULT_SHIM", "")
SESSION = dlq_drill_test.SESSION

setUpModule = dlq_kafka_test.setUpModule


def state_of(process):
    """The letter of /proc: T when it is stopped; Z when it has ended."""
    with open(f"/proc/{process.pid}/stat", encoding="ascii") as file:
        return file.read().rpartition(")")[2].split()[0]


class Stalls(dlq_drill_test.Drill):
    """How processes are hurt."""

    def setUp(self):
        super().setUp()
        self.random = random.Random(SEED)
        self.plan = []
        self.hurt_by = {"stopped at a step": 0, "stopped at any moment": 0, "killed": 0, "not hurt": 0}

    def start_with_shim(self, faults, *arguments):
        name = self.path("said-" + str(len(self.children)))
        environment = support.clean_environment(
            LD_PRELOAD=SHIM, FAULT_SHIM_CALLS="all", FAULT_SHIM_PATH=self.directory.name, FAULT_SHIM_PROGRAM="forelock",
            ASAN_OPTIONS="verify_asan_link_order=0", **faults)
        with open(name, "wb") as errors:
            child = subprocess.Popen(self.command(*arguments), env=environment, stdin=subprocess.DEVNULL,
                                     stdout=subprocess.DEVNULL, stderr=errors)
        self.children.append(child)
        return child

    def find_steps(self, *arguments):
        """Each call of a process that nothing befalls, with each way to be hurt there, in a random order."""
        log = self.path("calls")
        self.end(self.start_with_shim({"FAULT_SHIM_LOG": log}, *arguments))
        calls = len(self.lines_of("calls"))
        self.assertGreater(calls, 10)
        # Two stops for each kill.
        actions = ("stop_before", "stop_after", "stop_before", "stop_after", "kill_before", "kill_half")
        self.plan = [(call, action) for call in range(1, calls + 1) for action in actions]
        self.random.shuffle(self.plan)
        return calls

    def start_and_hurt(self, *arguments, longest=2.0):
        """It is stopped or dead then, or has come to its end before its step."""
        if self.random.randrange(4) == 0:
            child = self.start(*arguments)
            try:
                child.wait(self.random.uniform(0, longest))
                self.hurt_by["not hurt"] += 1
            except subprocess.TimeoutExpired:
                kill = self.random.randrange(3) == 0
                child.send_signal(signal.SIGKILL if kill else signal.SIGSTOP)
                self.hurt_by["killed" if kill else "stopped at any moment"] += 1
            return child
        call, action = self.plan.pop()
        child = self.start_with_shim({"FAULT_SHIM_ACTION": action, "FAULT_SHIM_STEP": str(call)}, *arguments)
        support.wait_until(lambda: state_of(child) in "TZ", f"call {call} is reached, or the end", 120)
        if state_of(child) == "T":
            self.hurt_by["stopped at a step"] += 1
        else:
            child.wait()
            self.hurt_by["killed" if child.returncode < 0 else "not hurt"] += 1
        return child

    def go_on(self, child):
        if child.poll() is None:
            child.send_signal(signal.SIGCONT)
        return self.end(child, 120)

    def say(self, kind, **figures):
        counts = {"rounds": ROUNDS, **self.hurt_by, **figures}
        text = ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in counts.items())
        print(f"{kind}: {text}", flush=True)

    def accepted(self):
        """The journal's lines (monitor, id, token) as a resource takes them that knows fencing tokens."""
        highest, taken = {}, []
        for line in self.lines_of("journal"):
            monitor, identity, token = line.split()
            if int(token) >= highest.get(monitor, 0):
                highest[monitor] = int(token)
                taken.append((monitor, identity))
        return taken


class Drainers(Stalls):
    def drainer(self, *options):
        return super().drainer(*options)[:-1] + (
            f"echo $FORELOCK_MONITOR $FORELOCK_DLQ_ID $FORELOCK_TOKEN >> {self.journal}",)

    def numbered(self, number):
        return [dict(record, id=f"{record['id']}-{number}") for record in self.letters_of(4, 3)]

    def check_sight(self, made):
        done = {identity for _, identity in self.accepted()}
        self.assertEqual(set(made) - done - set(self.ids()) - set(self.ids("--parked")), set(), "out of sight")

    def test_drainers(self):
        made = self.give(self.numbered("probe"))
        calls = self.find_steps(*self.drainer())
        for number in range(ROUNDS):
            made += self.give(self.numbered(number))
            late = self.start_and_hurt(*self.drainer("--rate", "20"))
            self.wait_for_turn()
            # A failure parks at once what the late one has begun.
            self.end(self.start(*self.drainer("--max", "5", "--max-replays", "1")))
            self.check_sight(made)
            self.go_on(late)
            self.check_sight(made)
        for option in ((), ("--parked",)) * 5:
            self.wait_for_turn()
            self.end(self.start(*self.drainer(*option)), 300)
        self.check_sight(made)
        self.assertEqual((self.ids(), self.ids("--parked")), ([], []))

        taken = self.accepted()
        self.assertEqual({identity for _, identity in taken}, set(made), "lost")
        parked = {json.loads(record["payload"])["id"] for record in self.in_topic(self.topic + ".parking")}
        held = {}
        for record in self.in_topic(self.topic):
            held.setdefault(record["key"], {}).setdefault(json.loads(record["payload"])["id"])
        for monitor, ids in held.items():
            done = dict.fromkeys(identity for name, identity in taken if name == monitor and identity not in parked)
            self.assertEqual(list(done), [identity for identity in ids if identity not in parked], "out of order")
        self.say("drainers", steps=calls, letters=len(made), lost=0, out_of_sight=0, order_violated=0,
                 parked=len(parked), refused_by_token=len(self.lines_of("journal")) - len(taken))


class Forwarders(Stalls):
    busy = 0

    def check_sight(self, made):
        """One that is stopped in the middle of a transaction keeps the outbox from the others, which is said."""
        result = self.run_cli("dlq", "list", "--outbox", "-o", "json")
        if result.returncode != 0:
            self.assertEqual((result.returncode, self.error_of(result)["code"]), (74, "outbox_unavailable"))
            self.assertIn("another process has been using it", self.error_of(result)["message"])
            self.busy += 1
            return
        in_outbox = {letter["id"] for letter in json.loads(result.stdout)["letters"]}
        self.assertEqual(set(made) - in_outbox - set(self.ids()), set(), "out of sight")

    def test_forwarders(self):
        made = self.give([dict(record, id=record["id"] + "-probe") for record in self.letters_of(5, 10)], "--outbox")
        calls = self.find_steps("dlq", "forward")
        for number in range(ROUNDS):
            records = [dict(record, id=f"{record['id']}-{number}") for record in self.letters_of(5, 10)]
            made += self.give(records, "--outbox")
            late = self.start_and_hurt("dlq", "forward", longest=0.5)
            self.run_cli("dlq", "forward", "--timeout", "300ms")
            self.check_sight(made)
            self.go_on(late)
            self.assertEqual(self.forward()["waiting"], 0)
            self.assertEqual(set(made) - set(self.ids()), set(), "out of sight")
        held = {}
        for record in self.in_topic(self.topic):
            held.setdefault(record["key"], {}).setdefault(json.loads(record["payload"])["id"])
        self.assertEqual({identity for ids in held.values() for identity in ids}, set(made), "lost")
        for monitor, ids in held.items():
            given = [identity for identity in made if identity.split("-")[0] == monitor]
            self.assertEqual(list(ids), given, "out of order")
        self.say("forwarders", steps=calls, letters=len(made), lost=0, out_of_sight=0, order_violated=0,
                 outbox_busy_while_stopped=self.busy)


class Guardians(Stalls):
    def guardian(self, who, script):
        return ("run", "-m", "P1", *SESSION, "--timeout", "60s", "--kill-after", "100ms", "--", "sh", "-c",
                f"work() {{ echo P1 {who} $FORELOCK_TOKEN >> {self.journal}; }}; {script}")

    def worker(self, number, deaf):
        """Works for half a second. One that is deaf to TERM is ended by its guardian alone."""
        trap = "trap '' TERM; " if deaf else ""
        return self.guardian(f"late-{number}", f"{trap}echo $$ > {self.path('child')}; "
                             "i=0; while [ $i -lt 25 ]; do work; sleep 0.02; i=$((i + 1)); done")

    def child(self):
        try:
            with open(self.path("child"), encoding="ascii") as file:
                return int(file.read())
        except (FileNotFoundError, ValueError):
            return 0

    def test_guardians(self):
        calls = self.find_steps(*self.worker("probe", False))
        codes = {}
        for number in range(ROUNDS):
            if os.path.exists(self.path("child")):
                os.remove(self.path("child"))
            deaf = number % 2 == 0
            late = self.start_and_hurt(*self.worker(number, deaf), longest=0.8)
            dead = late.poll() is not None and late.returncode < 0
            beside = f"grep -qs '^State:.[RSDT]' /proc/{self.child()}/status && echo beside"  # not as a zombie
            result = self.ends(0, *self.guardian(f"next-{number}", f"{beside}; work"))
            # A stopped guardian cannot end its child: that is what tokens are for. A dead one's child has got TERM.
            self.assertFalse(dead and not deaf and result.stdout,
                             "the child of a killed guardian works beside the next holder")
            code = self.go_on(late)
            codes[code] = codes.get(code, 0) + 1
            self.assertIn(code, (0, 76, -signal.SIGKILL), self.everything_said()[-2000:])
            self.assertFalse(self.child() and support.is_alive(self.child()), "a child is left")
            self.assertIsNone(self.holder("P1"))
            self.assertEqual(self.queue("P1"), [])
        # In the order of the tokens: one holder's work, then the next one's.
        taken = [identity for _, identity in self.accepted()]
        order = list(dict.fromkeys(taken))
        self.assertEqual([identity for i, identity in enumerate(taken) if i == 0 or taken[i - 1] != identity], order,
                         "out of order")
        self.assertEqual({identity for identity in order if identity.startswith("next-")},
                         {f"next-{number}" for number in range(ROUNDS)}, "lost")
        self.say("guardians", steps=calls, sections=len(order), children_left=0, two_holders=0, order_violated=0,
                 refused_by_token=len(self.lines_of("journal")) - len(taken),
                 exit_codes=json.dumps(codes).replace('"', ""))
