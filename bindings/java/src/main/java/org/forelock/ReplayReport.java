package org.forelock;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** The result of a replay. Immutable. */
public final class ReplayReport {
  private final long[] numbers = new long[Layouts.ReplayReport.NUMBERS];
  private final String unsettled;
  private final List<UnresolvedLetter> unresolved;

  /** Reads the report of a replay that has ended. */
  ReplayReport(long replay) {
    byte[][] told = new byte[Layouts.ReplayReport.TEXTS][];
    Native.replayGetReport(replay, numbers, told);
    unsettled = Failures.text(told[Layouts.ReplayReport.UNSETTLED]);
    List<UnresolvedLetter> all = new ArrayList<>();
    for (int i = 0; i < numbers[Layouts.ReplayReport.UNRESOLVED]; ++i) {
      all.add(new UnresolvedLetter(replay, i));
    }
    unresolved = Collections.unmodifiableList(all);
  }

  /**
   * Letters that are done and have left the queue.
   *
   * @return their number
   */
  public long replayed() {
    return numbers[Layouts.ReplayReport.REPLAYED];
  }

  /**
   * Letters that failed and will be tried by the next replay.
   *
   * @return their number
   */
  public long failed() {
    return numbers[Layouts.ReplayReport.FAILED];
  }

  /**
   * Letters that were put off, or whose lock was unavailable.
   *
   * @return their number
   */
  public long later() {
    return numbers[Layouts.ReplayReport.LATER];
  }

  /**
   * Letters that were parked, because they failed too often.
   *
   * @return their number
   */
  public long parked() {
    return numbers[Layouts.ReplayReport.PARKED];
  }

  /**
   * Letters skipped because an earlier one of their monitor failed or waits.
   *
   * @return their number
   */
  public long skipped() {
    return numbers[Layouts.ReplayReport.SKIPPED];
  }

  /**
   * Records that cannot be read.
   *
   * @return their number
   */
  public long unreadable() {
    return numbers[Layouts.ReplayReport.UNREADABLE];
  }

  /**
   * Whether it ended early: stopped by the caller, or because the lock that makes it exclusive was lost.
   *
   * @return if true, some letters were not reached
   */
  public boolean stopped() {
    return numbers[Layouts.ReplayReport.STOPPED] != 0;
  }

  /**
   * Letters that were reached and are not done, in the order in which they were reached.
   *
   * @return at most {@link ReplayOptions#maxUnresolved} letters
   */
  public List<UnresolvedLetter> unresolved() {
    return unresolved;
  }

  /**
   * Letters left out of {@link #unresolved()} by its limit.
   *
   * @return their number
   */
  public long unresolvedLeftOut() {
    return numbers[Layouts.ReplayReport.UNRESOLVED_LEFT_OUT];
  }

  /**
   * The reason why the queue could not be tidied up afterwards. Nothing is lost then.
   *
   * @return for people; empty if it was tidied up
   */
  public String unsettled() {
    return unsettled;
  }

  @Override
  public String toString() {
    return "ReplayReport(replayed " + replayed() + ", failed " + failed() + ", later " + later() + ", parked "
        + parked() + ", skipped " + skipped() + ", unreadable " + unreadable() + (stopped() ? ", stopped" : "")
        + (unsettled.isEmpty() ? "" : ", not tidied up: " + unsettled) + ")";
  }
}
