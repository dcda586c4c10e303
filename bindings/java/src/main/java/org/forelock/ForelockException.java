package org.forelock;

/** Base of every exception of this library: a stable code, the monitor concerned, and what to do next. */
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
   * An exception as the library throws it for a code, for the tests of a program that handles it.
   *
   * @param code the code, which decides the class
   * @param monitor the monitor's id, or empty
   * @param message for people
   * @return it
   */
  public static ForelockException of(ErrorCode code, String monitor, String message) {
    return Failures.of(code.number(), monitor, message, "");
  }

  /**
   * What happened, for programs.
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
   * What to do next, for people.
   *
   * @return the hint; may be empty
   */
  public String hint() {
    return hint;
  }

  /**
   * Whether the same call may succeed later.
   *
   * @return as {@link ErrorCode#retryable()} of the code
   */
  public boolean retryable() {
    return code.retryable();
  }

  /** As that of every exception, and the hint: so a stack trace says what to do next, too. */
  @Override
  public String toString() {
    return hint.isEmpty() ? super.toString() : super.toString() + " [hint: " + hint + "]";
  }
}
