package org.forelock;

/** Does the work of one dead letter. */
@FunctionalInterface
public interface ReplayHandler {
  /**
   * Does it; returning says that it is done. What it throws decides otherwise, as in an {@link OperationRunner}: a
   * retryable {@link OperationFailure} or {@link ForelockException} puts the letter off, and it is not counted;
   * anything else is a failure of the letter.
   *
   * @param attempt the letter, with its lock
   * @throws Exception to say that it is not done
   */
  void run(ReplayAttempt attempt) throws Exception;
}
