"""The group of workloads with very many waiters. Jobs: bench/compare/crowd.h."""

import contextlib

CROWDS = (10, 100, 1000, 10_000)
LARGE = CROWDS[-1]


def crowd(bench, server, mode, processes, waiters):
    """Packets and processor time of one hand-over between processes, counted by the server: some take their turns, from
    process to process, while so many wait behind them."""
    turns = 40
    server.answer({"ephemerals": 0})
    with contextlib.ExitStack() as stack:
        address = server.hello["address"]
        team = [stack.enter_context(bench.programs.worker(mode, address)) for _ in range(processes)]
        job = {"crowd": "wait", "monitor": bench.rounds.fresh_name("crowd"), "waiters": 1}
        team[-1].answer(job)
        server.answer({"ephemerals": 2})
        # Who releases at once alternates with the others' processes, so each hand-over is one between processes.
        for turn in range(turns):
            team[turn % processes].answer({**job, "hold": False})
            server.answer({"ephemerals": 3 + turn})
        for number, worker in enumerate(team):
            share = waiters // processes + (number < waiters % processes)
            worker.answer({**job, "waiters": share})
        before = server.answer({"ephemerals": turns + waiters + 2, "quiet": True})
        cpu = sum(worker.answer({"crowd": "state"})["cpu_seconds"] for worker in team)
        team[-1].answer({"crowd": "free"})
        after = server.answer({"ephemerals": waiters + 1, "quiet": True})
        cpu = sum(worker.answer({"crowd": "state"})["cpu_seconds"] for worker in team) - cpu
        # While much is under way a server may not read that a session is closed, and keeps its nodes until it expires.
        for worker in team:
            worker.answer({"crowd": "cancel"})
        server.answer({"ephemerals": 2})
        hand_overs = turns + 1
        return {"requests": (after["received"] - before["received"]) / hand_overs,
                "packets": (after["received"] + after["sent"] - before["received"] - before["sent"]) / hand_overs,
                "clients_cpu_us": 1e6 * cpu / hand_overs,
                "server_cpu_us": 1e6 * (after["cpu_seconds"] - before["cpu_seconds"]) / hand_overs}


def waiters(bench):
    rounds = bench.rounds
    modes = bench.chosen("forelock", "forelock-predecessor")
    shapes = [(4, count) for count in CROWDS] + [(2, 1000), (8, 1000)]
    measured = {shape: [] for shape in shapes}
    with bench.server([]) as (server, _):
        for _ in range(rounds.count):
            for processes, count in shapes:
                measured[processes, count].append(
                    {mode: crowd(bench, server, mode, processes, count) for mode in rounds.shuffled(modes)})
    units = {"requests": "a hand-over", "packets": "a hand-over", "clients_cpu_us": "µs a hand-over",
             "server_cpu_us": "µs a hand-over"}
    for what, unit in units.items():
        for processes, count in shapes:
            values = [{mode: each[mode][what] for mode in modes} for each in measured[processes, count]]
            rounds.record("waiters", f"{count} waiters in {processes} processes: {what}", unit, values, counted=True,
                          waiters=count, processes=processes, what=what)
    many_in_one_process(bench)


def many_in_one_process(bench):
    """What very many asynchronous waiters of one process take, and how fast all of them end."""
    measured = {"threads": [], "cancelled": [], "timed out": []}
    memory = {count: [] for count in CROWDS}
    with bench.server([]) as (server, _):
        for _ in range(bench.rounds.count):
            with bench.programs.worker("forelock", server.hello["address"]) as worker:
                job = {"crowd": "wait", "monitor": "large", "waiters": 1}
                worker.answer(job)
                joined = 0
                for count in CROWDS:
                    worker.answer({**job, "waiters": count - joined})
                    joined = count
                    server.answer({"ephemerals": count + 2})
                    state = worker.answer({"crowd": "state"})
                    memory[count].append({"forelock": state["rss_kb"] / 1024})
                measured["threads"].append({"forelock": state["threads"]})
                measured["cancelled"].append({"forelock": 1000 * worker.answer({"crowd": "cancel"})["seconds"]})
                server.answer({"ephemerals": 2})
                worker.answer({**job, "waiters": LARGE, "timeout_ms": 5000})
                measured["timed out"].append({"forelock": worker.answer({"crowd": "expire"})["late_ms"]})
                server.answer({"ephemerals": 2})
            server.answer({"ephemerals": 0})
    for count, values in memory.items():
        bench.rounds.record("waiters", f"{count} waiters in one process: memory", "MB", values, counted=True)
    units = {"threads": "threads", "cancelled": "ms until all know", "timed out": "ms until all know"}
    for what, values in measured.items():
        bench.rounds.record("waiters", f"{LARGE} waiters in one process: {what}", units[what], values, counted=True)
