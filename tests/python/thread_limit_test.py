"""A process that may have no more threads is told so, leaves nothing, and can go on when it may."""

import os
import threading
import time

import pytest
from conftest import PATIENCE

import forelock
from forelock import ErrorCode


def resources():
    return len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd"))


def no_thread(_thread):
    raise RuntimeError("can't start new thread")  # what Python makes of the system's refusal


def code_of(call):
    with pytest.raises(forelock.Error) as refused:
        call()
    assert "cannot be started" in str(refused.value) and refused.value.hint and refused.value.retryable
    return refused.value.code


def test_a_client_for_which_there_is_no_thread_leaves_nothing(open_client, monkeypatch):
    before = resources()
    with monkeypatch.context() as limited:
        limited.setattr(threading.Thread, "start", no_thread)
        assert code_of(open_client) == ErrorCode.OUT_OF_MEMORY
    deadline = time.monotonic() + PATIENCE
    while any(now > then for now, then in zip(resources(), before)):
        assert time.monotonic() < deadline, (resources(), before)
    lock = forelock.BlockingLock(open_client(), "P1")
    with monkeypatch.context() as limited:
        limited.setattr(threading.Thread, "start", no_thread)
        assert code_of(lambda: lock.on_lost(print)) == ErrorCode.OUT_OF_MEMORY
        with lock:  # needs no further thread
            pass
    lock.on_lost(print)
    with lock:
        assert lock.healthy()


def test_a_client_whose_events_cannot_be_fetched_hangs_nobody(servers, monkeypatch, caplog):
    def no_native_thread():
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(forelock._dispatcher, "own_thread", no_native_thread)
    with forelock.Client(zookeeper_servers=servers) as client:
        client.core.dispatcher.join()  # its thread has given up
        with pytest.raises(forelock.RequestRejectedException) as refused:
            with forelock.lock(client, "P1"):
                pass
    assert refused.value.code in (ErrorCode.CLOSED, ErrorCode.INVALID_HANDLE)
    assert any("its events cannot be fetched" in record.getMessage() for record in caplog.records)
