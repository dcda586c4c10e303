package org.forelock.search;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.forelock.LockType;

/** A DocumentLock is a lock on one monitor, or on several at once, that can be obtained without blocking. */
public interface DocumentLock {
  /** Completed, or exceptionally with a {@link org.forelock.ForelockException}; cancelling it releases the lock. */
  CompletableFuture<?> acquire(long timeoutMillis);

  /** The same at once or not at all, without queueing. */
  CompletableFuture<?> tryAcquire();

  /** Changes its class, where it waits or is to. @return whether that was done */
  boolean prioritize(LockType type);

  /** The time for which all of it is certain from now on; 0 if it is not. */
  long nanosLeft();

  /** The highest fencing token of its monitors. */
  long token();

  /** The fencing tokens of the last grant, by monitor. */
  Map<String, Long> tokens();

  /** The tokens as the value of {@link Headers#HELD}. */
  String heldHeader();

  /** Releases it without waiting, in any state. */
  void close();
}
