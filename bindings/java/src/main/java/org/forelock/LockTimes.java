package org.forelock;

import java.util.Arrays;

/** The waits and holds of the locks of one class since the client was opened. A snapshot. */
public final class LockTimes {
  private final DurationHistogram waits;
  private final DurationHistogram holds;

  private LockTimes(DurationHistogram waits, DurationHistogram holds) {
    this.waits = waits;
    this.holds = holds;
  }

  static LockTimes of(ClientCore core, LockType type) {
    long[] numbers = new long[Layouts.Times.NUMBERS];
    Native.clientGetTimes(core.handle, type.ordinal(), numbers);
    return new LockTimes(histogram(numbers, Layouts.Times.WAITS, Layouts.Times.WAIT_SUM_NS),
        histogram(numbers, Layouts.Times.HOLDS, Layouts.Times.HOLD_SUM_NS));
  }

  private static DurationHistogram histogram(long[] numbers, int first, int sum) {
    return new DurationHistogram(Arrays.copyOfRange(numbers, first, first + Native.TIMES_BUCKETS), numbers[sum]);
  }

  /**
   * The waits of granted acquisitions, from their begin.
   *
   * @return their durations
   */
  public DurationHistogram waits() {
    return waits;
  }

  /**
   * The holds of locks, until their release was called or they were lost.
   *
   * @return their durations
   */
  public DurationHistogram holds() {
    return holds;
  }

  @Override
  public String toString() {
    return "LockTimes(waits " + waits + ", holds " + holds + ")";
  }
}
