package org.forelock;

/** An unlock of a lock that does not exist any more, or that is not held. */
public final class NoNodeException extends ForelockException {
  private static final long serialVersionUID = 1L;

  NoNodeException(ErrorCode code, String monitor, String message, String hint) {
    super(code, monitor, message, hint);
  }
}
