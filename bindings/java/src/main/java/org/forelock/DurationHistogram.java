package org.forelock;

import java.time.Duration;

/** Durations, counted by size. A snapshot. */
public final class DurationHistogram {
  private static final long[] BOUNDS_MILLIS = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 30_000,
      60_000, 300_000, 900_000, 3_600_000};

  private final long[] counts;
  private final long sumNanos;

  DurationHistogram(long[] counts, long sumNanos) {
    this.counts = counts;
    this.sumNanos = sumNanos;
  }

  /**
   * The buckets' upper bounds, in milliseconds; one more bucket has all longer durations.
   *
   * @return a copy
   */
  public static long[] boundsMillis() {
    return BOUNDS_MILLIS.clone();
  }

  /**
   * The number of durations in each bucket alone, not cumulative.
   *
   * @return a copy; one number more than there are bounds
   */
  public long[] counts() {
    return counts.clone();
  }

  /**
   * The number of durations.
   *
   * @return their number
   */
  public long count() {
    return countUpTo(BOUNDS_MILLIS.length);
  }

  /**
   * The number of durations in a bucket and in all smaller ones.
   *
   * @param bucket its index
   * @return their number
   */
  public long countUpTo(int bucket) {
    long count = 0;
    for (int i = 0; i <= bucket; ++i) {
      count += counts[i];
    }
    return count;
  }

  /**
   * The sum of all.
   *
   * @return zero if there are none
   */
  public Duration sum() {
    return Duration.ofNanos(sumNanos);
  }

  @Override
  public String toString() {
    return count() + " of " + sum().toMillis() + " ms in all";
  }
}
