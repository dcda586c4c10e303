package org.forelock;

import java.util.Arrays;

/** How long the locks of one class were waited for and held since the client was opened. A snapshot. */
public final class LockTimes {
  private static final int BUCKETS = DurationHistogram.boundsMillis().length + 1;

  private final DurationHistogram waits;
  private final DurationHistogram holds;

  private LockTimes(DurationHistogram waits, DurationHistogram holds) {
    this.waits = waits;
    this.holds = holds;
  }

  static LockTimes of(ClientCore core, LockType type) {
    long[] numbers = new long[2 + 2 * BUCKETS];
    Native.clientTimes(core.handle, type.ordinal(), numbers);
    return new LockTimes(new DurationHistogram(Arrays.copyOfRange(numbers, 2, 2 + BUCKETS), numbers[0]),
        new DurationHistogram(Arrays.copyOfRange(numbers, 2 + BUCKETS, numbers.length), numbers[1]));
  }

  /**
   * Of acquisitions that were granted, from their begin.
   *
   * @return how long they waited
   */
  public DurationHistogram waits() {
    return waits;
  }

  /**
   * Of locks that were held, until their release was called or they were lost.
   *
   * @return how long they were held
   */
  public DurationHistogram holds() {
    return holds;
  }

  @Override
  public String toString() {
    return "LockTimes(waits " + waits + ", holds " + holds + ")";
  }
}
