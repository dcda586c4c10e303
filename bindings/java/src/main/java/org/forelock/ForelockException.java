package org.forelock;

/** Base of every exception of this library: a stable code, the monitor concerned, and the next step. */
public class ForelockException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The code. */
  private final ErrorCode code;
  /** The monitor's id, or empty. */
  private final String monitor;
  /** The hint, or empty. */
  private final String hint;

  ForelockException(ErrorCode code, String monitor, String message, String hint) {
    super(message);
    this.code = code;
    this.monitor = monitor;
    this.hint = hint;
  }

  /**
   * Creates the exception that the library throws for a code, for tests of programs that handle it.
   *
   * @param code the code, which decides the class
   * @param monitor the monitor's id, or empty
   * @param message for people
   * @return the exception
   */
  public static ForelockException of(ErrorCode code, String monitor, String message) {
    return Failures.of(code.number(), monitor, message, "");
  }

  /**
   * The error code, for programs.
   *
   * @return the stable code
   */
  public ErrorCode code() {
    return code;
  }

  /**
   * The monitor concerned.
   *
   * @return its id; empty if none is
   */
  public String monitor() {
    return monitor;
  }

  /**
   * The next step, for people.
   *
   * @return the hint; may be empty
   */
  public String hint() {
    return hint;
  }

  /**
   * Whether the same call may succeed later.
   *
   * @return {@link ErrorCode#retryable()} of the code
   */
  public boolean retryable() {
    return code.retryable();
  }

  /** The usual text of an exception and the hint, so that a stack trace shows the next step, too. */
  @Override
  public String toString() {
    return hint.isEmpty() ? super.toString() : super.toString() + " [hint: " + hint + "]";
  }
}
