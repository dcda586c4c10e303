package org.forelock.search;

import org.forelock.LockType;

/** The Limits of what is held, as the settings are now. Thread-safe. */
public interface Limits {
  /** So many requests of both classes together may be held when one of this class comes. */
  int maxRequests(LockType type);

  /** The same for bytes. */
  long maxBytes(LockType type);

  /** How long one is held at most; negative: as the lock's own configuration says. */
  long timeoutMillis(LockType type);

  /** Whether writes go on without their locks where no ZooKeeper server is reached. */
  boolean allowsUnguarded();
}
