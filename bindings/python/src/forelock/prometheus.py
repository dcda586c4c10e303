"""Metrics of a client for Prometheus, with the package ``prometheus_client``, which only this module needs.

    prometheus_client.REGISTRY.register(ForelockCollector(client))
"""

from __future__ import annotations

import itertools
from typing import Iterator, Optional

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from forelock.client import BOUNDS, Client, DurationHistogram
from forelock.dead_letters import DeadLetterQueue
from forelock.errors import Error
from forelock.values import Priority

_COUNTERS = {
    "granted": "Locks that ZooKeeper has granted.",
    "taken_again": "Acquisitions of a lock that lingered: without a request.",
    "refused": "Acquisitions that ended without a grant.",
    "released": "Releases that were confirmed.",
    "requests": "Requests sent to ZooKeeper.",
    "sessions_expired": "Sessions that the servers ended.",
    "disconnections": "Connections that were lost.",
    "retries": "Operations that were tried again.",
    "retries_exhausted": "Operations whose last attempt has failed.",
}
_GAUGES = {
    "contenders": "Contenders that may have a node on the servers.",
    "lingering": "Of these, locks that linger: no caller holds them.",
}
_LETTERS = {
    "accepted": "Letters that this process has put into the outbox.",
    "delivered": "Letters that this process has delivered to Kafka.",
    "delivery_failures": "Attempts to deliver that have failed.",
}


class ForelockCollector(Collector):
    """Reads the counts of a client, and of its dead-letter queue, for each scrape of Prometheus.

    ``forelock_client_…``: ``connected``, ``granted_total``, ``refused_total``, ``lost_total`` by ``reason``, and the
    other numbers of ClientStatus; the histograms ``wait_seconds`` and ``hold_seconds`` by ``priority``. No monitor is
    a label.
    ``forelock_dlq_…``: ``outbox_rows``, ``outbox_bytes``, ``oldest_seconds``, ``accepted_total``, ``delivered_total``,
    ``delivery_failures_total``. A closed object has no metrics.
    """

    def __init__(self, client: Client, letters: Optional[DeadLetterQueue] = None) -> None:
        self._client = client
        self._letters = letters

    def collect(self) -> Iterator[Metric]:
        """The current metrics."""
        try:
            metrics = list(self._of_client())
        except Error:
            metrics = []  # closed, or another process's
        yield from metrics
        try:
            metrics = list(self._of_letters()) if self._letters is not None else []
        except Error:
            metrics = []
        yield from metrics

    def _of_client(self) -> Iterator[Metric]:
        status = self._client.status
        yield GaugeMetricFamily("forelock_client_connected", "Whether a server is connected.", int(status.connected))
        for name, text in _COUNTERS.items():
            yield CounterMetricFamily("forelock_client_" + name, text, getattr(status, name))
        lost = CounterMetricFamily("forelock_client_lost", "Held locks that were lost, by why.", labels=["reason"])
        for reason, count in status.lost_by_reason.items():
            lost.add_metric([reason.name.lower()], count)
        yield lost
        for name, text in _GAUGES.items():
            yield GaugeMetricFamily("forelock_client_" + name, text, getattr(status, name))
        wait = HistogramMetricFamily(
            "forelock_client_wait_seconds", "How long acquisitions waited that were granted.", labels=["priority"])
        hold = HistogramMetricFamily(
            "forelock_client_hold_seconds", "How long locks were held.", labels=["priority"])
        for priority in Priority:
            times = self._client.times(priority)
            _add(wait, priority, times.wait)
            _add(hold, priority, times.hold)
        yield wait
        yield hold

    def _of_letters(self) -> Iterator[Metric]:
        assert self._letters is not None
        status = self._letters.status
        yield GaugeMetricFamily("forelock_dlq_outbox_rows", "Dead letters in the outbox.", status.outbox_rows)
        yield GaugeMetricFamily("forelock_dlq_outbox_bytes", "What they count against its limit.", status.outbox_bytes)
        yield GaugeMetricFamily(
            "forelock_dlq_oldest_seconds", "The age of the oldest one; 0: there is none.", status.oldest_age or 0)
        for name, text in _LETTERS.items():
            yield CounterMetricFamily("forelock_dlq_" + name, text, getattr(status, name))


def _add(family: HistogramMetricFamily, priority: Priority, histogram: DurationHistogram) -> None:
    bounds = [str(bound) for bound in BOUNDS] + ["+Inf"]
    buckets = list(zip(bounds, itertools.accumulate(histogram.counts)))
    family.add_metric([priority.name.lower()], buckets, histogram.sum)
