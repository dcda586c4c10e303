package org.forelock;

import java.util.Objects;

/** Thrown by a handler to state its failure. */
public final class OperationFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The code, for programs. */
  private final String code;
  /** Whether another attempt makes sense. */
  private final boolean retryable;

  /**
   * Creates a failure.
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
   * The code, for programs.
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
