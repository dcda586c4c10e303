package org.forelock;

/** A setting is invalid; the message has a line for each problem. */
public final class ConfigurationException extends ForelockException {
  private static final long serialVersionUID = 1L;

  ConfigurationException(ErrorCode code, String monitor, String message, String hint) {
    super(code, monitor, message, hint);
  }
}
