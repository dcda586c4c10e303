package org.forelock;

/** Where a lock object stands. */
public enum LockState {
  /** Not held, not waiting. */
  FREE,
  /** In the line. */
  WAITING,
  /** Held, connected. */
  HELD,
  /** Held, but the connection is silent; certain until it expires. */
  SUSPECT,
  /** Was held, and is not any more, without having been released. */
  LOST
}
