package org.forelock.search;

import org.forelock.LockType;

/** The Limits of held requests, by the current settings. Thread-safe. */
public interface Limits {
  /** The largest number of held requests of both classes with which one of this class is still accepted. */
  int maxRequests(LockType type);

  /** The same for bytes. */
  long maxBytes(LockType type);

  /** The longest time that one is held; negative: as in the lock's own configuration. */
  long timeoutMillis(LockType type);

  /** Whether writes go on without their locks where no ZooKeeper server is reached. */
  boolean allowsUnguarded();
}
