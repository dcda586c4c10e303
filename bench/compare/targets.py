"""What Forelock wants to reach, and whether a comparison shows that it does."""

from dataclasses import dataclass
from typing import Callable

SAME, FRESH, NEAR, ASYNC = "same monitor", "fresh monitors", ", 1 ms away", "release not waited for"
FAR = ", 10 ms away"
THREADS, PROCESSES = "8 threads, one monitor", "4 processes, one monitor"


class Results:
    """The results of one comparison by name. Asking for what was not measured raises KeyError."""

    def __init__(self, results):
        self.results = {each["workload"]: each["values"] for each in results}

    def median(self, workload, kind="forelock"):
        return self.results[workload][kind]["median"]

    def ratio(self, workload, floor, kind="forelock"):
        return self.results[workload][kind][f"to_{floor}"]

    def waiting(self, count, processes, kind, what="requests"):
        return self.median(f"{count} waiters in {processes} processes: {what}", kind)

    def java(self, workload):
        """The Java package's median to that of C++."""
        return self.median(workload, "forelock-java") / self.median(workload)

    def growth(self, kind, what):
        """The most that a hand-over costs with 10 to 10,000 waiters, compared with the least."""
        costs = [self.waiting(count, 4, kind, what) for count in (10, 100, 1000, 10_000)]
        return max(costs) / min(costs)


@dataclass
class Target:
    """`measure` gives the number; `most` or `least` is what it may be."""

    text: str
    measure: Callable[[Results], float]
    most: float | None = None
    least: float | None = None
    unit: str = ""

    def goal(self):
        return f"≤ {self.most:g}{self.unit}" if self.most is not None else f"≥ {self.least:g}{self.unit}"

    def reached(self, value):
        return value <= self.most if self.most is not None else value >= self.least


# Counts come from servers and proxies, which see pings and heartbeats too: a tenth is allowed for them. "below etcd" is
# below 1; what is to be constant may grow by a tenth; what is to be proportional to processes may be so plus a tenth.
TARGETS = (
    Target("requests a cycle, known monitor", lambda r: r.median(f"{SAME}: requests"), most=2.1),
    Target("round trips a cycle, known monitor", lambda r: r.median(f"{SAME}{NEAR}: round trips"), most=2.1),
    Target("known monitor / raw transactions", lambda r: r.ratio(SAME, "raw"), most=1.10, unit=" ×"),
    Target("known monitor / Curator", lambda r: r.ratio(SAME, "curator"), most=0.80, unit=" ×"),
    Target("known monitor / Curator, 1 ms away", lambda r: r.ratio(SAME + NEAR, "curator"), most=0.72, unit=" ×"),
    Target("known monitor / etcd", lambda r: r.ratio(f"{SAME}, other stores", "etcd"), most=1, unit=" ×"),
    Target("known monitor / etcd, 1 ms away", lambda r: r.ratio(f"{SAME}, other stores{NEAR}", "etcd"), most=1,
           unit=" ×"),
    Target("round trips a cycle, fresh monitors", lambda r: r.median(f"{FRESH}{NEAR}: round trips"), most=2.1),
    Target("fresh monitors / Curator", lambda r: r.ratio(FRESH, "curator"), most=0.33, unit=" ×"),
    Target("asynchronous release: round trips on the wire", lambda r: r.median(f"{ASYNC}{NEAR}: round trips"),
           most=1.2),
    Target("asynchronous release: round trips of 10 ms that a cycle takes", lambda r: r.median(f"{ASYNC}{FAR}: time"),
           most=1.2),
    Target("hand-over in a process: round trips on the wire", lambda r: r.median(f"{THREADS}{NEAR}: round trips"),
           most=1.2),
    Target("8 threads, sections / Curator's", lambda r: r.ratio(THREADS, "curator"), least=1.7, unit=" ×"),
    Target("4 processes, sections / Curator's", lambda r: r.ratio(PROCESSES, "curator"), least=1.2, unit=" ×"),
    Target("4 processes, sections / raw's", lambda r: r.ratio(PROCESSES, "raw"), least=1, unit=" ×"),
    Target("Java, known monitor / C++", lambda r: r.java(SAME), most=1.1, unit=" ×"),
    Target("Java, known monitor / Curator", lambda r: r.ratio(SAME, "curator", "forelock-java"), most=0.85, unit=" ×"),
    Target("Java, 64 monitors asynchronously / C++'s rate", lambda r: r.java("64 monitors at once"), least=0.87,
           unit=" ×"),
    Target("Java, 1,000 monitors asynchronously / C++'s rate", lambda r: r.java("1000 monitors at once"), least=0.87,
           unit=" ×"),
    Target("requests a hand-over, `predecessor`: 10 to 10,000 waiters, most / least",
           lambda r: r.growth("forelock-predecessor", "requests"), most=1.1, unit=" ×"),
    Target("packets a hand-over, `predecessor`: 10 to 10,000 waiters, most / least",
           lambda r: r.growth("forelock-predecessor", "packets"), most=1.1, unit=" ×"),
    Target("requests a hand-over, `parent`: 10 to 10,000 waiters, most / least",
           lambda r: r.growth("forelock", "requests"), most=1.05, unit=" ×"),
    Target("requests a hand-over, `parent`: 8 processes / 2 processes",
           lambda r: r.waiting(1000, 8, "forelock") / r.waiting(1000, 2, "forelock"), most=4.4, unit=" ×"),
    Target("64 monitors / raw's rate (create + delete)", lambda r: r.ratio("64 monitors at once", "create-delete"),
           least=2.5, unit=" ×"),
    Target("64 fresh monitors / raw's rate (create + delete)",
           lambda r: r.ratio("64 fresh monitors at once", "create-delete"), least=1.5, unit=" ×"),
    Target("64 monitors / Curator's rate", lambda r: r.ratio("64 monitors at once", "curator"), least=1, unit=" ×"),
    Target("1,000 monitors / raw's rate (create + delete)",
           lambda r: r.ratio("1000 monitors at once", "create-delete"), least=2.5, unit=" ×"),
    Target("1,000 fresh monitors / raw's rate (create + delete)",
           lambda r: r.ratio("1000 fresh monitors at once", "create-delete"), least=1.5, unit=" ×"),
    Target("1,000 monitors / Curator's rate", lambda r: r.ratio("1000 monitors at once", "curator"), least=1,
           unit=" ×"),
    # Growing evenly they would be twice as many.
    Target("a thousand fresh monitors a second: nodes after a minute / earlier ones",
           lambda r: 3 * r.median("nodes left, after 60 s")
           / sum(r.median(f"nodes left, after {seconds} s") for seconds in (15, 30, 45)), most=1.25, unit=" ×"),
    Target("nodes left a minute after that", lambda r: r.median("nodes left, within another minute"), most=0),
    Target("C, known monitor / C++", lambda r: r.median(SAME, "forelock-c") / r.median(SAME), most=1.05, unit=" ×"),
    Target("lock set of 500 known documents / one by one",
           lambda r: r.ratio("500 known documents", "one by one", "set"), most=0.05, unit=" ×"),
    Target("lock set of 500 known documents / pipelined",
           lambda r: r.ratio("500 known documents", "pipelined", "set"), most=0.333, unit=" ×"),
    Target("lock set of 500 known documents: requests there and back",
           lambda r: r.median("500 known documents: requests", "set"), most=6),
    Target("lock set of 500 fresh documents / one by one",
           lambda r: r.ratio("500 fresh documents", "one by one", "set"), most=0.05, unit=" ×"),
    Target("lock set of 500 fresh documents: requests there and back",
           lambda r: r.median("500 fresh documents: requests", "set"), most=6),
    Target("lock set of 500 fresh documents / pipelined",
           lambda r: r.ratio("500 fresh documents", "pipelined", "set"), most=0.333, unit=" ×"),
    Target("overlapping sets of 100 out of 1000, two processes / one alone",
           lambda r: r.ratio("overlapping sets of 100 out of 1000", "one process", "two processes"), least=0.7,
           unit=" ×"),
    Target("lingering lock, lock and unlock", lambda r: r.median("same monitor, lock and unlock", "forelock-linger"),
           most=1, unit=" µs"),
    Target("foreground p99 behind 100 background waiters / (one hold + one hand-over)",
           lambda r: r.ratio("foreground wait behind 100, p99", "hold + hand-over"), most=1.1, unit=" ×"),
    Target("`healthy()`", lambda r: r.median("healthy/threads:1"), most=10, unit=" ns"),
    Target("10,000 waiters in one process: memory of the process",
           lambda r: r.median("10000 waiters in one process: memory"), most=50, unit=" MB"),
    Target("10,000 waiters in one process: threads of the process",
           lambda r: r.median("10000 waiters in one process: threads"), most=10),
    Target("10,000 cancelled: until all know", lambda r: r.median("10000 waiters in one process: cancelled"),
           most=1000, unit=" ms"),
    Target("10,000 timed out: until all know", lambda r: r.median("10000 waiters in one process: timed out"),
           most=1000, unit=" ms"),
)
