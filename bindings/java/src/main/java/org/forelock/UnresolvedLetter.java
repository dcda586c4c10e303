package org.forelock;

/** A dead letter that a replay has met, and that is not done. Immutable. */
public final class UnresolvedLetter {
  private final String id;
  private final String type;
  private final String monitor;
  private final ReplayOutcome outcome;
  private final String why;

  UnresolvedLetter(ReplayOutcome outcome, byte[][] texts) {
    this.outcome = outcome;
    id = Failures.text(texts[0]);
    type = Failures.text(texts[1]);
    monitor = Failures.text(texts[2]);
    why = Failures.text(texts[3]);
  }

  /**
   * Which one it is.
   *
   * @return its id; of one that cannot be read, its position
   */
  public String id() {
    return id;
  }

  /**
   * What kind of operation it is.
   *
   * @return empty of one that cannot be read
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
   * What became of it.
   *
   * @return for programs
   */
  public ReplayOutcome outcome() {
    return outcome;
  }

  /**
   * Why it is not done.
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
