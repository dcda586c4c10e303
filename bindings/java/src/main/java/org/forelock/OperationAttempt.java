package org.forelock;

/** One attempt at an operation. */
public final class OperationAttempt extends HeldAttempt {
  private final Operation operation;
  private final long number;

  OperationAttempt(ClientCore core, Operation operation, Event event) {
    super(core, operation.monitor, event);
    this.operation = operation;
    this.number = event.value;
  }

  /**
   * The operation to work on.
   *
   * @return as given
   */
  public Operation operation() {
    return operation;
  }

  /**
   * The number of this attempt.
   *
   * @return 1 is the first
   */
  public long number() {
    return number;
  }
}
