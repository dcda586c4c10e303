package org.forelock.opensearch;

import java.util.concurrent.CompletableFuture;

/** A DocumentLock is a lock on one monitor that can be obtained without blocking. */
interface DocumentLock {
  /** Completed, or exceptionally with a {@link org.forelock.ForelockException}; cancelling it gives the lock back. */
  CompletableFuture<?> acquire(long timeoutMillis);

  /** A single attempt. */
  CompletableFuture<?> attempt();

  /** How long it is certain from now on; 0 if it is not. */
  long nanosLeft();

  long token();

  /** Gives it back without waiting, in whatever state. */
  void close();
}
