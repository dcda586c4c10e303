package org.forelock.opensearch;

import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.forelock.LockType;
import org.opensearch.tasks.Task;

/** A HeldRequest is a write that waits for its locks, or is done under them. Thread-safe. */
final class HeldRequest {
  private enum State { HELD, RUNNING, ENDED }

  final long ticket;
  final Task task;
  final String action;
  final LockType type;
  final DocumentLocks locks;
  final long bytes;
  final long since;
  private final Consumer<Exception> refuse;
  /** Whether it counts towards the bounds; guarded by them. */
  boolean counted;
  private final AtomicReference<State> state = new AtomicReference<>(State.HELD);

  /** @param refuse answers the request with a failure; called at most once */
  HeldRequest(long ticket, Task task, String action, LockType type, DocumentLocks locks, long bytes, long since,
      Consumer<Exception> refuse) {
    this.ticket = ticket;
    this.task = task;
    this.action = action;
    this.type = type;
    this.locks = locks;
    this.bytes = bytes;
    this.since = since;
    this.refuse = refuse;
  }

  boolean held() {
    return state.get() == State.HELD;
  }

  /** Whether the caller may go on with it: nothing else can end it then but {@link #end()}. */
  boolean run() {
    return state.compareAndSet(State.HELD, State.RUNNING);
  }

  /** Whether the caller has ended the wait, and must refuse the request. */
  boolean abandon() {
    return state.compareAndSet(State.HELD, State.ENDED);
  }

  /** Whether the caller is the first to say that it was done. */
  boolean end() {
    return state.compareAndSet(State.RUNNING, State.ENDED);
  }

  /** Calls what {@link HeldRequests} may call once. */
  void refuse(Exception answer) {
    refuse.accept(answer);
  }
}
