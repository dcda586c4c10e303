"""Threads of the package."""

from __future__ import annotations

import threading
from typing import Callable

from forelock.errors import ErrorCode, make_error


def make_thread(run: Callable[[], None], name: str) -> threading.Thread:
    """Creates a daemon thread without starting it."""
    return threading.Thread(target=run, name=name, daemon=True)


def start_thread(thread: threading.Thread) -> None:
    """Starts a thread. Raises forelock.Error (OUT_OF_MEMORY) if the system has none available."""
    try:
        thread.start()
    except RuntimeError as error:
        raise make_error(ErrorCode.OUT_OF_MEMORY, "", f"the thread {thread.name} cannot be started: {error}",
                         "raise the limit of processes (ulimit -u) or of the container's tasks", True) from None
