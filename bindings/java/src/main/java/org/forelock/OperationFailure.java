package org.forelock;

import java.util.Objects;

/** A handler's way to say how it failed. */
public final class OperationFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** For programs. */
  private final String code;
  /** Whether another attempt makes sense. */
  private final boolean retryable;

  /**
   * A failure.
   *
   * @param code stable, for programs: lower case letters, digits, underscores
   * @param message for people; must not hold the payload
   * @param retryable whether the same operation may succeed later
   */
  public OperationFailure(String code, String message, boolean retryable) {
    super(message);
    this.code = Objects.requireNonNull(code, "code");
    this.retryable = retryable;
  }

  /**
   * For programs.
   *
   * @return the stable code
   */
  public String code() {
    return code;
  }

  /**
   * Whether another attempt makes sense.
   *
   * @return true if it does
   */
  public boolean retryable() {
    return retryable;
  }
}
