package org.forelock;

/** The session ended while the caller waited for a lock or released one. */
public final class SessionExpiredException extends ForelockException {
  private static final long serialVersionUID = 1L;

  SessionExpiredException(ErrorCode code, String monitor, String message, String hint) {
    super(code, monitor, message, hint);
  }
}
