package org.forelock;

/** A dead letter that is replayed, with its monitor's lock held. */
public final class ReplayAttempt extends HeldAttempt {
  private final DeadLetter letter;

  ReplayAttempt(ClientCore core, DeadLetter letter, Event event) {
    super(core, letter.monitor(), event);
    this.letter = letter;
  }

  /**
   * What is to be done.
   *
   * @return with the payload, and how it has failed
   */
  public DeadLetter letter() {
    return letter;
  }

  /**
   * How many replays of it have begun before and did not end well.
   *
   * @return 0: none
   */
  public int tries() {
    return letter.tries();
  }

  /**
   * Whether the work should end: its lock was lost, or the replay is to end. What is done afterwards does not count
   * unless the handler returns while the lock is certain to be held.
   *
   * @return true after the end of the attempt, too
   */
  public boolean shouldStop() {
    return Native.attemptShouldStop(handle);
  }
}
