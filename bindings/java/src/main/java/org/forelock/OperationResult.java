package org.forelock;

import java.util.List;

/** How an operation ended, when it ended well or was dead-lettered. That it failed to the caller is an exception. */
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
   * Whether an attempt succeeded, its lock certain to be held until then.
   *
   * @return false if it is dead-lettered
   */
  public boolean succeeded() {
    return succeeded;
  }

  /**
   * The operation's id.
   *
   * @return that of the letter, if it is dead-lettered
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
   * The codes of the attempts that failed.
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
