"""The orderly end of a process on SIGTERM."""

from __future__ import annotations

import signal
from types import FrameType
from typing import Optional

from forelock._green import raise_in_main

_STATUS = 128 + signal.SIGTERM


def exit_on_sigterm() -> None:
    """Makes SIGTERM, by which systemd, Docker and Kubernetes stop a process, end it as sys.exit(143) does.

    SystemExit is raised in the main thread: its blocks end and release their locks, a waiting acquisition is cancelled,
    threads that are no daemons are waited for, and locks still held are released when the open clients are closed at
    the end. Without this SIGTERM ends Python at once, and its locks stay until the session ends. A second SIGTERM
    changes nothing. Replaces the process's handler; to be called in the main thread. Not needed where a server
    (gunicorn, celery, uvicorn) handles the signal.
    """
    signal.signal(signal.SIGTERM, _exit)


def _exit(_number: int, _frame: Optional[FrameType]) -> None:
    # Do not interrupt the work under way again. Not SIG_IGN, which programs started from here would inherit.
    signal.signal(signal.SIGTERM, lambda _number, _frame: None)
    end = SystemExit(_STATUS)
    if not raise_in_main(end):
        raise end
