package org.forelock;

/** What went wrong, for programs: the stable codes of the library, with their stable numbers. */
public enum ErrorCode {
  /** The lock was not obtained in time. */
  LOCK_TIMEOUT(1),
  /** A single attempt: the lock is held or waited for. */
  LOCK_UNAVAILABLE(2),
  /** The caller cancelled the wait, or was interrupted. */
  CANCELLED(3),
  /** The server ended the session, and with it every lock. */
  SESSION_EXPIRED(4),
  /** No server could be reached. */
  CONNECTION_LOSS(5),
  /** The lock to be released does not exist any more. */
  NO_NODE(6),
  /** The lock is, or may be, lost. */
  LOCK_UNHEALTHY(7),
  /** The server's ACL or the credentials do not permit it. */
  NOT_AUTHORIZED(8),
  /** A quota of the server is used up. */
  QUOTA_EXCEEDED(9),
  /** An argument is invalid. */
  INVALID_ARGUMENT(10),
  /** Over the server's limit; never sent. */
  REQUEST_TOO_LARGE(11),
  /** A guarded write's own operations were refused; the lock is still held. */
  WRITE_CONFLICT(12),
  /** An operation of a holder on a lock that is not held. */
  NOT_HELD(13),
  /** The lock object holds or waits already. */
  ALREADY_HELD(14),
  /** A setting is invalid. */
  CONFIGURATION(15),
  /** The client is closed. */
  CLOSED(16),
  /** The client belongs to the parent process. */
  FORKED(17),
  /** Anything else that the server reports. */
  SERVER_ERROR(18),
  /** A defect of the library. */
  INTERNAL(19),
  /** An operation's handler failed and says no more. */
  HANDLER_FAILED(20),
  /** Too much for now: operations under way, threads of the host, work of the server. */
  OVERLOADED(21),
  /** The dead letter was not taken: the outbox is full. */
  OUTBOX_FULL(22),
  /** The outbox cannot be opened, read or written. */
  OUTBOX_UNAVAILABLE(23),
  /** No broker could be reached. */
  KAFKA_UNAVAILABLE(24),
  /** The broker refuses for good. */
  KAFKA_REJECTED(25),
  /** A record of the dead-letter queue that cannot be understood. */
  RECORD_INVALID(26),
  /** A record of the dead-letter queue of a newer version. */
  RECORD_TOO_NEW(27),
  /** So many wait for the lock already that it was not waited for. */
  LOCK_REFUSED(29),
  /** The object was closed. */
  INVALID_HANDLE(1001),
  /** The native library has no memory, or no room for another object. */
  OUT_OF_MEMORY(1002);

  private final int number;

  ErrorCode(int number) {
    this.number = number;
  }

  /**
   * The stable number.
   *
   * @return as in the C interface
   */
  public int number() {
    return number;
  }

  /**
   * Whether the same call may succeed later without anything being changed by people.
   *
   * @return true for time-outs, lost connections and sessions, unhealthy locks and overload
   */
  public boolean retryable() {
    switch (this) {
      case LOCK_TIMEOUT:
      case LOCK_UNAVAILABLE:
      case LOCK_REFUSED:
      case SESSION_EXPIRED:
      case CONNECTION_LOSS:
      case LOCK_UNHEALTHY:
      case OVERLOADED:
      case OUTBOX_FULL:
      case KAFKA_UNAVAILABLE:
        return true;
      default:
        return false;
    }
  }

  static ErrorCode of(int number) {
    for (ErrorCode code : values()) {
      if (code.number == number) {
        return code;
      }
    }
    return INTERNAL;
  }
}
