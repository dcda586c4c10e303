package org.forelock;

/** A dead letter that is replayed, with its monitor's lock held. */
public final class ReplayAttempt extends HeldAttempt {
  private final DeadLetter letter;

  ReplayAttempt(ClientCore core, DeadLetter letter, Event event) {
    super(core, letter.monitor(), event);
    this.letter = letter;
  }

  /**
   * The letter to work on.
   *
   * @return with the payload and its failures
   */
  public DeadLetter letter() {
    return letter;
  }

  /**
   * The number of earlier replays of it that did not succeed.
   *
   * @return 0: none
   */
  public int tries() {
    return letter.tries();
  }

  /**
   * Whether the work should end: its lock was lost, or the replay is to end. Work done afterwards does not count unless
   * the handler returns while the lock is certain to be held.
   *
   * @return also true after the end of the attempt
   */
  public boolean shouldStop() {
    return Native.attemptShouldStop(handle);
  }
}
