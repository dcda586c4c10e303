package org.forelock;

/** Why a held lock was lost. */
public enum LossReason {
  /** The session could not be proved alive in time; another client may hold the lock now. */
  DEADLINE_PASSED,
  /** The server has ended the session. */
  SESSION_EXPIRED,
  /** An administrator or unlocker deleted the lock. */
  REMOVED,
  /** The client was closed under it. */
  CLOSED;

  static LossReason of(long number) {
    return values()[(int) number - 1];
  }
}
