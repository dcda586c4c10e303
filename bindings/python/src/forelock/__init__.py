"""Forelock: a priority-aware distributed lock on Apache ZooKeeper.

    with forelock.Client("elasticsearch-details.properties") as client:
        with forelock.lock(client, "P1", lock_info="Save Content") as held:
            save(fencing_token=held.fencing_token)

A waiting foreground lock always goes before a waiting background one. ``forelock.aio`` has the same for asyncio.
"""

from forelock import aio
from forelock._attempt import FailedAttempt
from forelock._exit import exit_on_sigterm
from forelock._native import lib as _lib
from forelock._native import text as _text
from forelock.blocking import BlockingLock, LockSet, lock
from forelock.client import Client, ClientStatus, DurationHistogram, LockTimes
from forelock.dead_letters import DeadLetterQueue, DeadLetterStatus, Operation
from forelock.errors import (
    ConfigurationException,
    ConnectionLossException,
    DeadLetterException,
    Error,
    ErrorCode,
    InstanceLockException,
    LockUnhealthyException,
    NoNodeException,
    OperationFailure,
    RequestRejectedException,
    SessionExpiredException,
)
from forelock.held import CheckNode, CreateNode, DeleteNode, SetNode, WriteOperation
from forelock.inspector import ForceRelease, Holder, Inspector, Monitor, SeenSet, Waiter
from forelock.operations import Attempt, OperationEnd, OperationResult, OperationRunner
from forelock.replay import (
    DeadLetter,
    ReplayAttempt,
    ReplayOptions,
    ReplayOutcome,
    ReplayPreview,
    ReplayReport,
    UnresolvedLetter,
)
from forelock.values import LockState, LossReason, Owner, Priority, QueuePosition

#: The version of the loaded library.
__version__ = _text(_lib.fl_version())

__all__ = [
    "Attempt", "BlockingLock", "CheckNode", "Client", "ClientStatus", "ConfigurationException",
    "ConnectionLossException", "CreateNode", "DeadLetter", "DeadLetterException", "DeadLetterQueue",
    "DeadLetterStatus", "DeleteNode", "DurationHistogram", "Error", "ErrorCode", "FailedAttempt", "ForceRelease",
    "Holder", "Inspector", "InstanceLockException", "LockSet", "LockState", "LockTimes", "LockUnhealthyException",
    "LossReason", "Monitor", "NoNodeException", "Operation", "OperationEnd", "OperationFailure", "OperationResult",
    "OperationRunner", "Owner", "Priority", "QueuePosition", "ReplayAttempt", "ReplayOptions", "ReplayOutcome",
    "ReplayPreview", "ReplayReport", "RequestRejectedException", "SeenSet", "SessionExpiredException", "SetNode",
    "UnresolvedLetter", "Waiter", "WriteOperation", "aio", "exit_on_sigterm", "lock",
]
