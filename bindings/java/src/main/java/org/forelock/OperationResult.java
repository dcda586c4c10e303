package org.forelock;

import java.util.List;

/** The result of an operation that succeeded or was dead-lettered. A failure to the caller is an exception instead. */
public final class OperationResult {
  private final boolean succeeded;
  private final String id;
  private final String reason;
  private final List<String> failures;

  OperationResult(Event event, List<String> failures) {
    this.succeeded = event.value == 0;
    this.id = event.hint;
    this.reason = event.name;
    this.failures = List.copyOf(failures);
  }

  /**
   * Whether an attempt succeeded while its lock was certain to be held.
   *
   * @return false if it is dead-lettered
   */
  public boolean succeeded() {
    return succeeded;
  }

  /**
   * The operation's id.
   *
   * @return also the letter's id, if it is dead-lettered
   */
  public String id() {
    return id;
  }

  /**
   * The stable code of the last failure, if it is dead-lettered.
   *
   * @return empty if it succeeded
   */
  public String reason() {
    return reason;
  }

  /**
   * The codes of the failed attempts.
   *
   * @return oldest first
   */
  public List<String> failures() {
    return failures;
  }

  @Override
  public String toString() {
    return "OperationResult(" + id + ", " + (succeeded ? "succeeded" : "dead-lettered: " + reason)
        + (failures.isEmpty() ? "" : ", failures " + failures) + ")";
  }
}
