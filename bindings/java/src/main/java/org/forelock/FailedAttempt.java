package org.forelock;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;

/** One failed attempt at an operation. Immutable. */
public final class FailedAttempt {
  private final Instant at;
  private final String code;
  private final String message;
  private final Duration waited;

  /**
   * Creates the record of an attempt.
   *
   * @param at the time of the failure
   * @param code stable, for programs: lower case letters, digits, underscores
   * @param message for people; must not hold the payload
   * @param waited its wait for the lock
   */
  public FailedAttempt(Instant at, String code, String message, Duration waited) {
    this.at = Objects.requireNonNull(at, "at");
    this.code = Objects.requireNonNull(code, "code");
    this.message = Objects.requireNonNull(message, "message");
    this.waited = Objects.requireNonNull(waited, "waited");
  }

  /**
   * The time of the failure.
   *
   * @return as given
   */
  public Instant at() {
    return at;
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
   * The message, for people.
   *
   * @return as given
   */
  public String message() {
    return message;
  }

  /**
   * Its wait for the lock.
   *
   * @return as given
   */
  public Duration waited() {
    return waited;
  }

  @Override
  public String toString() {
    return "FailedAttempt(" + at + ", " + code + ", waited for " + waited.toMillis() + " ms: " + message + ")";
  }
}
