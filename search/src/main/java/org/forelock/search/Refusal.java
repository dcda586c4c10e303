package org.forelock.search;

/**
 * A Refusal is the answer to a write that is not done: a status of HTTP, a stable code, and the reason in words, before
 * it becomes an exception of the search engine's own. Immutable.
 */
public final class Refusal extends RuntimeException {
  private static final long serialVersionUID = 1;

  public final int status;
  public final String code;
  /** The monitor of the lock concerned; may be empty. */
  public final String monitor;
  /** The dead letter that the write has become; may be empty. */
  public final String letter;

  Refusal(int status, String code, String monitor, String message) {
    this(status, code, monitor, message, "");
  }

  Refusal(int status, String code, String monitor, String message, String letter) {
    super(message, null, false, false); // the engine's own has a stack
    this.status = status;
    this.code = code;
    this.monitor = monitor;
    this.letter = letter;
  }

  /** Whether the client is told to try again. */
  public boolean tryAgain() {
    return status == Refusals.TOO_MANY_REQUESTS;
  }
}
