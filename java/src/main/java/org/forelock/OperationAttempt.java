package org.forelock;

import java.util.List;

/** What a handler works with: one attempt at an operation, whose lock is held. Valid until the attempt has ended. */
public final class OperationAttempt {
  private final Operation operation;
  private final long handle;
  private final long number;

  OperationAttempt(Operation operation, Event event) {
    this.operation = operation;
    this.handle = event.source;
    this.number = event.value;
  }

  void succeed() {
    Native.attemptSucceed(handle);
  }

  void fail(Throwable problem) {
    String message = String.valueOf(problem.getMessage()).replace((char) 0, ' ');
    if (problem instanceof OperationFailure) {
      OperationFailure failure = (OperationFailure) problem;
      fail(failure.code(), message, failure.retryable());
    } else if (problem instanceof ForelockException) {
      ForelockException failure = (ForelockException) problem;
      fail(failure.code().name().toLowerCase(java.util.Locale.ROOT), message, failure.retryable());
    } else {
      fail("handler_failed", problem.toString().replace((char) 0, ' '), false);
    }
  }

  private void fail(String code, String message, boolean retryable) {
    Native.attemptFail(handle, NativeLibrary.utf8(code.replace((char) 0, '_')), NativeLibrary.utf8(message), retryable);
  }

  /**
   * Commits operations together with a check that the lock is still ours.
   *
   * @param operations what to do
   * @return the new data version for each
   */
  public int[] writeGuarded(List<WriteOperation> operations) {
    return GuardedWrite.commit(Native::lockWriteGuarded, handle, operations);
  }

  /** Returns if the lock is certain to be held now; throws {@link LockUnhealthyException} otherwise. */
  public void checkHealth() {
    Native.lockCheckHealth(handle);
  }

  /**
   * What is to be done.
   *
   * @return as given
   */
  public Operation operation() {
    return operation;
  }

  /**
   * Which attempt this is.
   *
   * @return 1 is the first
   */
  public long number() {
    return number;
  }

  /**
   * Whether the lock is certain to be held now.
   *
   * @return false after the end of the attempt
   */
  public boolean isHealthy() {
    return Native.lockIsHealthy(handle);
  }

  /**
   * The fencing token of the lock.
   *
   * @return 0 after the end of the attempt
   */
  public long fencingToken() {
    return Native.lockToken(handle);
  }
}
