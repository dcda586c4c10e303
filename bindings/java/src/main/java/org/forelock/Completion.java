package org.forelock;

import java.util.concurrent.locks.LockSupport;

/** The end of an asynchronous native call, for one thread that waits for it. A virtual thread waits unmounted. */
final class Completion {
  /** The tag of the expected event; used by the waiter alone. */
  long tag;
  private final Thread waiter = Thread.currentThread();
  private volatile Event event;

  void complete(Event end) {
    event = end;
    LockSupport.unpark(waiter);
  }

  /** Waits; returns null, early, only if the thread was interrupted: its flag is cleared then, and only then. */
  Event awaitInterruptibly() {
    while (event == null) {
      if (Thread.interrupted()) {
        Event end = event;
        if (end != null) {
          Thread.currentThread().interrupt();
        }
        return end;
      }
      LockSupport.park(this);
    }
    return event;
  }

  /** Waits; an interruption meanwhile sets the thread's flag afterwards. */
  Event await() {
    boolean interrupted = false;
    while (event == null) {
      interrupted |= Thread.interrupted();
      LockSupport.park(this);
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return event;
  }
}
