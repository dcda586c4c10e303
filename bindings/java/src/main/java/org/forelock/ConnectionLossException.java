package org.forelock;

/** The connection to ZooKeeper is lost. */
public final class ConnectionLossException extends ForelockException {
  private static final long serialVersionUID = 1L;

  ConnectionLossException(ErrorCode code, String monitor, String message, String hint) {
    super(code, monitor, message, hint);
  }
}
