package org.forelock.opensearch;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The Certainty of locks that another node holds: certain for as long as that node has said, counted from when it was
 * asked, so that the time of the way and differing clocks do not matter. Thread-safe.
 */
final class RemoteCertainty implements Certainty {
  private final CertaintyService service;
  private final Guard guard;
  private final AtomicBoolean asking = new AtomicBoolean();
  private volatile long until = System.nanoTime();
  private volatile long askAgainAt = until;

  RemoteCertainty(CertaintyService service, Guard guard) {
    this.service = service;
    this.guard = guard;
  }

  /** Asks the holder's node, unless it is being asked already. */
  void ask(Runnable answered) {
    if (!asking.compareAndSet(false, true)) {
      return;
    }
    long askedAt = System.nanoTime();
    service.ask(guard, nanosLeft -> {
      if (nanosLeft > 0) {
        askAgainAt = askedAt + nanosLeft / 2;
        until = askedAt + nanosLeft;
      } else {
        until = askedAt;
      }
      asking.set(false);
      answered.run();
    });
  }

  @Override
  public boolean certain() {
    long now = System.nanoTime();
    if (now - askAgainAt > 0) {
      ask(() -> {});
    }
    return until - now > 0;
  }

  @Override
  public long token() {
    return guard.token;
  }
}
