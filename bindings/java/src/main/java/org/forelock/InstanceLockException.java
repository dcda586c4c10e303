package org.forelock;

/** The lock was not obtained within the time-out, or its acquisition was cancelled or interrupted. */
public final class InstanceLockException extends ForelockException {
  private static final long serialVersionUID = 1L;

  InstanceLockException(ErrorCode code, String monitor, String message, String hint) {
    super(code, monitor, message, hint);
  }
}
