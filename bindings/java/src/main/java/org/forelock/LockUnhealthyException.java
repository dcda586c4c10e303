package org.forelock;

/** The lock is, or may be, lost: the work that it protects must stop. */
public final class LockUnhealthyException extends ForelockException {
  private static final long serialVersionUID = 1L;

  LockUnhealthyException(ErrorCode code, String monitor, String message, String hint) {
    super(code, monitor, message, hint);
  }
}
