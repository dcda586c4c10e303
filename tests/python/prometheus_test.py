"""The collector for prometheus_client."""

import prometheus_client
import pytest
from conftest import PATIENCE
from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families

import forelock
from forelock import BlockingLock
from forelock.prometheus import ForelockCollector


def numbers(registry):
    """All samples as Prometheus reads them, by name and labels."""
    text = prometheus_client.generate_latest(registry).decode()
    return {(sample.name, *sample.labels.values()): sample.value
            for family in text_string_to_metric_families(text) for sample in family.samples}


def registry_with(*arguments):
    registry = CollectorRegistry(auto_describe=True)
    registry.register(ForelockCollector(*arguments))
    return registry


def test_numbers_of_a_client(client):
    registry = registry_with(client)
    client.wait_connected(PATIENCE)
    before = numbers(registry)
    assert before["forelock_client_connected",] == 1
    assert before["forelock_client_granted_total",] == 0
    assert before["forelock_client_wait_seconds_count", "background"] == 0
    lock = BlockingLock(client, "P1", priority="background")
    lock.acquire(PATIENCE)
    held = numbers(registry)
    assert held["forelock_client_contenders",] == 1
    assert held["forelock_client_wait_seconds_count", "background"] == 1
    assert held["forelock_client_hold_seconds_count", "background"] == 0
    lock.release()
    after = numbers(registry)
    assert after["forelock_client_granted_total",] == 1
    assert after["forelock_client_released_total",] == 1
    assert {key[1]: value for key, value in after.items() if key[0] == "forelock_client_lost_total"} == {
        "deadline_passed": 0, "session_expired": 0, "removed": 0, "closed": 0}
    assert (after["forelock_client_retries_total",], after["forelock_client_retries_exhausted_total",]) == (0, 0)
    assert after["forelock_client_hold_seconds_count", "background"] == 1
    assert after["forelock_client_hold_seconds_count", "foreground"] == 0
    assert after["forelock_client_hold_seconds_bucket", "3600.0", "background"] == 1  # they sum up
    assert after["forelock_client_hold_seconds_bucket", "+Inf", "background"] == 1
    assert 0 < after["forelock_client_hold_seconds_sum", "background"] < PATIENCE
    assert not any("P1" in label for labels in after for label in labels)


def test_times_of_a_client(client):
    with forelock.lock(client, "P1", timeout=PATIENCE):
        pass
    times = client.times("foreground")
    assert sum(times.wait.counts) == 1 and sum(times.hold.counts) == 1
    assert len(times.wait.counts) == len(forelock.client.BOUNDS) + 1
    assert 0 < times.wait.sum < PATIENCE
    assert sum(client.times(forelock.Priority.BACKGROUND).hold.counts) == 0
    with pytest.raises(forelock.RequestRejectedException):
        client.times("urgent")


def test_what_is_closed_has_no_numbers(client):
    registry = registry_with(client)
    client.close()
    assert not [name for name in numbers(registry) if name[0].startswith("forelock_client_granted")]


def test_numbers_of_the_outbox(client, tmp_path):
    with forelock.DeadLetterQueue(settings={"dlq.outbox.path": str(tmp_path / "outbox.db")}) as letters:
        found = numbers(registry_with(client, letters))
        assert found["forelock_dlq_outbox_rows",] == 0
        assert found["forelock_dlq_oldest_seconds",] == 0
        assert found["forelock_dlq_accepted_total",] == 0
