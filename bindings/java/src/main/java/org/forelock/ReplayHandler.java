package org.forelock;

/** Does the work of one dead letter. */
@FunctionalInterface
public interface ReplayHandler {
  /**
   * Does the work; the letter is done when this returns. An exception decides otherwise, as in an
   * {@link OperationRunner}: a retryable {@link OperationFailure} or {@link ForelockException} puts the letter off
   * without counting; any other one is a failure of the letter.
   *
   * @param attempt the letter, with its lock
   * @throws Exception if it is not done
   */
  void run(ReplayAttempt attempt) throws Exception;
}
