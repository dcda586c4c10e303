package org.forelock;

import java.util.concurrent.locks.LockSupport;

/** The end of an asynchronous native call, for one thread that waits for it. A virtual thread waits unmounted. */
final class Completion {
  /** Under which the event is expected; of the waiter alone. */
  long tag;
  private final Thread waiter = Thread.currentThread();
  private volatile Event event;

  void complete(Event end) {
    event = end;
    LockSupport.unpark(waiter);
  }

  /** Waits; ends early, with null, only if the thread was interrupted, which clears its flag then and not else. */
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

  /** Waits; an interruption in the meantime is found in the thread's flag afterwards. */
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
