"""Judges clients that contend for hours and never end: what they keep must not grow (README.md).

A sample is what everybody had used at one time: "seconds" since the contention began, "watches" and "nodes" as all the
servers count them, and of each of the "clients" its "sections", "requests", "memory_kib" and "descriptors". The end is
what was seen when nobody contended any more ("idle_watches", "idle_nodes"), and of each of the "clients" after the
servers had been restarted: whether it "answered", has the "same_session" as in the beginning and "locks_again"; its
"contenders" that were not yet gone from the servers, its "disconnections" since the restart began, and its background
work while foreground work always waited: "aged" sections, and their "longest_wait_ms".
"""

import statistics

WARM_UP = 0.1  # of the time; meanwhile caches fill, and allocators find their size
# What differs from one moment to the next without growing: a factor, and so much more.
TOLERANCES = {"watches": (1.2, 20), "nodes": (1.2, 20), "memory_kib": (1.05, 2048), "descriptors": (1.0, 2),
              "requests per section": (1.2, 1)}
WATCHES_OF_BUSY_CLIENT = 24
WATCHES_OF_IDLE_CLIENT = 8
IDLE_NODES = 40  # ZooKeeper's own among them
DISCONNECTIONS = 20
LONGEST_WAIT_MS = 8000  # of background work that ages


def total(sample, what):
    return sum(client[what] for client in sample["clients"])


def gained(half, count):
    return count(half[-1]) - count(half[0])


def requests_per_section(half):
    sections = gained(half, lambda each: total(each, "sections"))
    return gained(half, lambda each: total(each, "requests")) / sections if sections else 0


class Verdict:
    """Of all samples and the end: `violations`, and how what all together use has changed between the halves."""

    def __init__(self, samples, end):
        self.samples, self.end = samples, end
        self.changes, self.violations = {}, []
        length = samples[-1]["seconds"] if samples else 0
        warm = [each for each in samples if each["seconds"] >= length * WARM_UP]
        first = [each for each in warm if each["seconds"] < length * (1 + WARM_UP) / 2]
        self.halves = first, warm[len(first):]
        if min(len(half) for half in self.halves) < 3:
            self.violations.append(f"too few samples to judge: {len(samples)}")
            return
        self.watches_are_few()
        self.nothing_grows()
        for i, client in enumerate(end["clients"]):
            self.works(i)
            self.lives_on(f"client {i + 1}", client)

    def at_most(self, what, count, bound):
        if count > bound:
            self.violations.append(f"{what}: {count}, allowed are {bound}")

    def watches_are_few(self):
        clients = len(self.end["clients"])
        worst = max(self.samples, key=lambda each: each["watches"])
        self.at_most(f"watches of busy clients, after {round(worst['seconds'])} s", worst["watches"],
                     clients * WATCHES_OF_BUSY_CLIENT)
        self.at_most("watches of idle clients", self.end["idle_watches"], clients * WATCHES_OF_IDLE_CLIENT)
        self.at_most("nodes when all are idle", self.end["idle_nodes"], IDLE_NODES)

    def nothing_grows(self):
        """Medians of the second half against those of the first one."""
        for what in "watches", "nodes":
            self.compare(what, what, lambda half, what=what: statistics.median_high(each[what] for each in half))
        for what in "memory_kib", "descriptors":
            for i in range(len(self.end["clients"])):
                self.compare(what, f"{what} of client {i + 1}", lambda half, what=what, i=i: statistics.median_high(
                    each["clients"][i][what] for each in half))
        self.compare("requests per section", "requests per section", requests_per_section)

    def compare(self, kind, what, typical):
        before, after = self.changes[what] = [typical(half) for half in self.halves]
        factor, more = TOLERANCES[kind]
        if after > before * factor + more:
            self.violations.append(f"{what} grew from {before} to {after}")

    def works(self, i):
        for half in self.halves:
            if gained(half, lambda each: each["clients"][i]["sections"]) <= 0:
                self.violations.append(f"client {i + 1} had no section in one half of the time")

    def lives_on(self, name, client):
        self.at_most(f"longest wait of background work of {name}, in ms", client["longest_wait_ms"], LONGEST_WAIT_MS)
        if not client["answered"]:
            self.violations.append(f"{name} does not answer any more")
            return
        for wrong, text in ((not client["same_session"], "has lost its session"),
                            (not client["locks_again"], "cannot lock any more after the servers' restart"),
                            (client["contenders"], "has contenders left while it is idle"),
                            (not client["aged"], "was never served in a crowd with its background work")):
            if wrong:
                self.violations.append(f"{name} {text}")
        self.at_most(f"disconnections of {name} by the servers' restart", client["disconnections"], DISCONNECTIONS)

    def summary(self):
        """For one line of JSON."""
        clients = self.end["clients"]
        return {"sections": total(self.samples[-1], "sections") if self.samples else 0,
                "most_watches": max((each["watches"] for each in self.samples), default=0),
                "idle_watches": self.end["idle_watches"], "idle_nodes": self.end["idle_nodes"],
                "first_and_second_half": self.changes,
                "disconnections_by_restart": [each["disconnections"] for each in clients],
                "locks_again": [each["locks_again"] for each in clients], "aged": [each["aged"] for each in clients],
                "longest_wait_ms": [each["longest_wait_ms"] for each in clients], "violations": len(self.violations)}
