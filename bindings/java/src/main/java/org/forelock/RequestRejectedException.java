package org.forelock;

/** The server or the library refused the request; the code gives the reason. */
public final class RequestRejectedException extends ForelockException {
  private static final long serialVersionUID = 1L;

  RequestRejectedException(ErrorCode code, String monitor, String message, String hint) {
    super(code, monitor, message, hint);
  }
}
