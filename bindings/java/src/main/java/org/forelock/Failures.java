package org.forelock;

import java.nio.charset.StandardCharsets;

/** Makes exceptions of the native library's failures, by their codes. */
final class Failures {
  private Failures() {}

  /** Throws; called by the native library in place of returning. */
  static void raise(int code, byte[] message, byte[] hint, byte[] monitor) {
    throw of(code, text(monitor), text(message), text(hint));
  }

  static ForelockException of(int number, String monitor, String message, String hint) {
    ErrorCode code = ErrorCode.of(number);
    switch (code) {
      case LOCK_TIMEOUT:
      case LOCK_UNAVAILABLE:
      case LOCK_REFUSED:
      case CANCELLED:
        return new InstanceLockException(code, monitor, message, hint);
      case SESSION_EXPIRED:
        return new SessionExpiredException(code, monitor, message, hint);
      case CONNECTION_LOSS:
        return new ConnectionLossException(code, monitor, message, hint);
      case NO_NODE:
      case NOT_HELD:
        return new NoNodeException(code, monitor, message, hint);
      case LOCK_UNHEALTHY:
        return new LockUnhealthyException(code, monitor, message, hint);
      case CONFIGURATION:
        return new ConfigurationException(code, monitor, message, hint);
      case INVALID_HANDLE:
        return new RequestRejectedException(code, monitor, "the object is closed", hint);
      default:
        return new RequestRejectedException(code, monitor, message, hint);
    }
  }

  static ForelockException of(Event event) {
    return of(event.code, event.monitor, event.message, event.hint);
  }

  static InstanceLockException interrupted(String monitor) {
    return new InstanceLockException(
        ErrorCode.CANCELLED, monitor, "the thread was interrupted while waiting for the lock on " + monitor, "");
  }

  static String text(byte[] bytes) {
    return bytes == null ? "" : new String(bytes, StandardCharsets.UTF_8);
  }
}
