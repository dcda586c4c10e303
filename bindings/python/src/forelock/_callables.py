"""Checks of callables: refuses those whose body a call would not run, and examines results of handlers."""

from __future__ import annotations

import asyncio
import functools
import inspect
from typing import Any, Callable, Optional


def check_callback(callback: Any) -> None:
    """Raises TypeError unless a thread of the client can call it as a function."""
    if kind := _kind_of(callback, "callback"):
        raise TypeError(f"callback is a {kind}: the thread that calls it would not run its body")


def thread_handler(handler: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The handler, for run(). Raises TypeError if it is known beforehand that a call would not run its body."""
    if kind := _kind_of(handler, "handler"):
        raise TypeError(f"handler is a {kind}: run() would not run its body; "
                        f"{'use run_async()' if kind == 'coroutine function' else 'a handler is a plain function'}")
    return handler


def task_handler(handler: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The handler, for run_async(). A plain function may return an awaitable."""
    kind = _kind_of(handler, "handler")
    if kind is not None and kind != "coroutine function":
        raise TypeError(f"handler is a {kind}: run_async() would not run its body; a handler is a coroutine function")
    return handler


def refuse_undone(result: object, hint: str) -> None:
    """Raises TypeError if a handler returned work that was not done; that work is then discarded."""
    awaitable = inspect.isawaitable(result)
    if awaitable or inspect.isgenerator(result) or inspect.isasyncgen(result):
        _discard(result)
        raise TypeError(f"the handler returned a {type(result).__name__}, whose work is not done"
                        f"{': ' + hint if awaitable else ''}")


def _discard(work: Any) -> None:
    try:
        if isinstance(work, asyncio.Future):
            work.get_loop().call_soon_threadsafe(work.cancel)
        elif inspect.iscoroutine(work) or inspect.isgenerator(work):
            work.close()
    except Exception:  # of its cleanup, or its loop was closed; the TypeError says more
        pass


def _kind_of(function: Any, name: str) -> Optional[str]:
    """The kind of a function whose call does not run its body, else None. Raises TypeError if it is no function."""
    if not callable(function):
        raise TypeError(f"{name} is a {type(function).__name__}, which cannot be called")
    while isinstance(function, functools.partial):
        function = function.func
    for each in (function, type(function).__call__):
        for is_one, kind in _KINDS:
            if is_one(each):
                return kind
    return None


def _is_coroutine_function(function: Any) -> bool:
    """Covers types.coroutine, too."""
    inner = getattr(function, "__func__", function)
    return inspect.iscoroutinefunction(function) or (
        inspect.isfunction(inner) and bool(inner.__code__.co_flags & inspect.CO_ITERABLE_COROUTINE))


_KINDS: tuple[tuple[Callable[[Any], bool], str], ...] = (
    (_is_coroutine_function, "coroutine function"),
    (inspect.isgeneratorfunction, "generator function"),
    (inspect.isasyncgenfunction, "asynchronous generator function"),
)
