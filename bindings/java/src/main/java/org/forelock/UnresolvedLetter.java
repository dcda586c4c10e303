package org.forelock;

/** A dead letter that a replay has reached and that is not done. Immutable. */
public final class UnresolvedLetter {
  private final String id;
  private final String type;
  private final String monitor;
  private final ReplayOutcome outcome;
  private final String why;

  /** Reads a letter from a replay that has ended. */
  UnresolvedLetter(long replay, int index) {
    long[] numbers = new long[Layouts.UnresolvedLetter.NUMBERS];
    byte[][] texts = new byte[Layouts.UnresolvedLetter.TEXTS][];
    Native.replayUnresolved(replay, index, numbers, texts);
    outcome = ReplayOutcome.values()[(int) numbers[Layouts.UnresolvedLetter.OUTCOME] - 1];
    id = Failures.text(texts[Layouts.UnresolvedLetter.ID]);
    type = Failures.text(texts[Layouts.UnresolvedLetter.TYPE]);
    monitor = Failures.text(texts[Layouts.UnresolvedLetter.MONITOR]);
    why = Failures.text(texts[Layouts.UnresolvedLetter.WHY]);
  }

  /**
   * Identifies the letter.
   *
   * @return its id; its position if it cannot be read
   */
  public String id() {
    return id;
  }

  /**
   * The kind of operation.
   *
   * @return empty if the letter cannot be read
   */
  public String type() {
    return type;
  }

  /**
   * The monitor object whose lock it needs.
   *
   * @return its id
   */
  public String monitor() {
    return monitor;
  }

  /**
   * The letter's outcome.
   *
   * @return for programs
   */
  public ReplayOutcome outcome() {
    return outcome;
  }

  /**
   * The reason why it is not done.
   *
   * @return for people
   */
  public String why() {
    return why;
  }

  @Override
  public String toString() {
    return "UnresolvedLetter(" + id + ", " + type + " on " + monitor + ", " + outcome + ": " + why + ")";
  }
}
