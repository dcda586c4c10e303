"""How it is measured: every lock by turns, in rounds; ratios within a round, medians over the rounds."""

import random
import statistics
import sys

FLOORS = ("raw", "create-delete", "curator", "etcd", "hold + hand-over", "one by one", "pipelined",
          "one process", "plain")


def median_cycle(answer):
    """In µs; the whole job's time if not even one cycle has ended in it."""
    return statistics.median(answer["cycle_us"] or [1e6 * answer["seconds"]])


def sections_per_second(answer):
    return max(1, answer["sections"]) / answer["seconds"]


def quantile(values, part):
    values = sorted(values)
    return values[min(len(values) - 1, int(part * len(values)))]


class Rounds:
    """Measures in rounds, and keeps the results. Jobs last for a time, so a slow machine takes no longer."""

    def __init__(self, count, scale):
        self.count = count
        self.scale = scale
        self.results = []
        self.names = 0
        self.random = random.Random(1)

    def seconds(self, normal, counted=False):
        """How long a job is to last. Where packets are counted it lasts for dozens of cycles, however small the scale:
        a ping or two would show in the counts of a cycle otherwise."""
        return max(0.5 if counted else 0.1, normal * self.scale)

    def fresh_name(self, prefix):
        self.names += 1
        return f"{prefix}{self.names}"

    def shuffled(self, things):
        return self.random.sample(list(things), len(things))

    def record(self, group, workload, unit, rounds, better="lower", **more):
        """`rounds`: a list of {kind: value}, one for each round."""
        values = {}
        for kind in rounds[0]:
            of_kind = [each[kind] for each in rounds]
            values[kind] = {"median": statistics.median(of_kind), "lowest": min(of_kind), "highest": max(of_kind)}
            for floor in FLOORS:
                if floor in rounds[0] and kind != floor and all(each[floor] for each in rounds):
                    values[kind][f"to_{floor}"] = statistics.median(each[kind] / each[floor] for each in rounds)
        self.results.append({"group": group, "workload": workload, "unit": unit, "better": better,
                             "rounds": len(rounds), "values": values, **more})
        line = "  ".join(f"{kind} {each['median']:.4g}" + "".join(
            f" ({each[to]:.2f})" for to in ("to_raw", "to_plain") if to in each) for kind, each in values.items())
        print(f"{workload:44} {unit:16} {line}", file=sys.stderr, flush=True)

    def measure(self, group, workload, unit, workers, job_of, value_of, better="lower", server=None, trip_us=0,
                warm=1):
        """Each worker does the job in each round, in another order each time. `job_of`: the job for a fresh name. Kinds
        share no monitor: one that another session has used since is not known any more, and costs more requests.
        With `server`, the requests that it receives for a section are counted. With `trip_us`, the time that a round
        trip takes, also those that the proxies see, and how many of them a section takes. `warm`: so many jobs of each
        are not measured, as the server compiles what is used much."""
        def job_for(kind, name):
            job = job_of(name)
            return {**job, "monitors": [f"{monitor}-{kind}" for monitor in job["monitors"]]}

        for kind, worker in list(workers.items()) * warm:
            value_of(worker.answer(job_for(kind, self.fresh_name("warm"))))
        values, requests, trips, waited = [], [], [], []
        for _ in range(self.count):
            of_round = [{kind: 0.0 for kind in workers} for _ in range(4)]
            for kind, worker in self.shuffled(workers.items()):
                before = server.answer({}) if server else {}
                answer = worker.answer(job_for(kind, self.fresh_name("m")))
                after = server.answer({}) if server else {}
                sections = max(1, answer["sections"])
                of_round[0][kind] = value_of(answer)
                if server:
                    of_round[1][kind] = (after["received"] - before["received"]) / sections
                    of_round[2][kind] = (after["round_trips"] - before["round_trips"]) / sections
                if trip_us:
                    of_round[3][kind] = 1e6 * answer["seconds"] / sections / trip_us
            for kept, each in zip((values, requests, trips, waited), of_round):
                kept.append(each)
        self.record(group, workload, unit, values, better)
        if server:
            self.record(group, f"{workload}: requests", "a section", requests, counted=True)
        if trip_us:
            self.record(group, f"{workload}: round trips", "a section", trips, counted=True)
            self.record(group, f"{workload}: time", "round trips", waited, counted=True)
