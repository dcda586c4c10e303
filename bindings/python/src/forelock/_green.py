"""Blocking calls on native threads, where threads are greenlets (gevent's monkey.patch_all())."""

from __future__ import annotations

import contextlib
import sys
from typing import Any, Callable, Iterator, Optional, TypeVar, cast

from forelock.errors import ErrorCode, make_error

T = TypeVar("T")
_BETWEEN_WITHDRAWALS = 0.05


def is_green() -> bool:
    """Whether gevent has replaced the threads."""
    monkey: Any = sys.modules.get("gevent.monkey")
    return monkey is not None and bool(monkey.is_module_patched("threading"))


def refuse_eventlet() -> None:
    """Raises where eventlet has replaced the threads: the first call that waits would stop every greenlet."""
    patcher: Any = sys.modules.get("eventlet.patcher")
    if patcher is not None and patcher.is_monkey_patched("thread"):
        raise make_error(ErrorCode.INVALID_ARGUMENT, "", "eventlet has replaced the threads, which is not supported",
                         "use threads, asyncio or gevent")


def can_wait() -> bool:
    """Whether the caller may wait: not in gevent's hub, where finalizers may run."""
    return not is_green() or not _is_in_hub()


def blocking(call: Callable[[], T]) -> T:
    """Makes a call that blocks for a round trip or so; for a greenlet on a native thread of gevent's pool."""
    if not is_green() or _is_in_hub():
        return call()
    return cast(T, _result(_gevent().get_hub().threadpool.apply(_caught, (call,))))


def waiting(call: Callable[[], T], withdraw: Callable[[], object]) -> T:
    """Makes a call that may block for long; for a greenlet on a native thread of its own. A greenlet that is killed
    meanwhile continues when the call has ended, which ``withdraw`` causes."""
    if not is_green():
        return call()
    pool = _gevent().threadpool.ThreadPool(1)
    end = pool.spawn(_caught, call)
    try:
        end.wait()
    except BaseException:
        while not end.ready():  # it may not have begun to wait yet
            withdraw()
            end.wait(_BETWEEN_WITHDRAWALS)
        raise
    finally:
        pool.kill()
    return cast(T, _result(end.get()))


def raise_in_main(error: BaseException) -> bool:
    """Raises it later in the main greenlet, if another one calls this. Returns False if the main one runs, or there are
    no greenlets."""
    if not is_green():
        return False
    gevent = _gevent()
    hub = gevent.get_hub()
    if gevent.getcurrent() is hub.parent:
        return False
    hub.handle_system_error(type(error), error)
    return True


@contextlib.contextmanager
def own_thread() -> Iterator[Callable[[Callable[[], T]], T]]:
    """A caller that makes all calls on one thread: this one, or, for a greenlet, one native thread."""
    if not is_green():
        yield lambda call: call()
        return
    pool = _gevent().threadpool.ThreadPool(1)

    def call_there(call: Callable[[], T]) -> T:
        return cast(T, _result(pool.apply(_caught, (call,))))

    try:
        yield call_there
    finally:
        pool.kill()


def _caught(call: Callable[[], T]) -> tuple[Optional[T], Optional[BaseException]]:
    """Returns a call's exception, since gevent writes each one raised on its pools' threads to stderr."""
    try:
        return call(), None
    except BaseException as error:
        return None, error


def _result(end: tuple[Optional[T], Optional[BaseException]]) -> T:
    result, error = end
    if error is not None:
        raise error
    return cast(T, result)


def _gevent() -> Any:
    import gevent.threadpool  # type: ignore[import]
    return gevent


def _is_in_hub() -> bool:
    gevent = _gevent()
    return bool(gevent.getcurrent() is gevent.get_hub())
