package org.forelock;

import java.time.Duration;

/** Converts durations for the native library, for which negative numbers and zero may have special meanings. */
final class Milliseconds {
  /** Longer than any wait; instants computed with it do not overflow. */
  private static final Duration MOST = Duration.ofDays(36_500);

  private Milliseconds() {}

  /** Rounds up, so that only zero becomes zero; a negative time counts as zero, as in {@code java.util.concurrent}. */
  static long of(Duration time) {
    if (time.isNegative()) {
      return 0;
    }
    return time.compareTo(MOST) >= 0 ? MOST.toMillis() : time.plusNanos(999_999).toMillis();
  }

  /**
   * The same for an option, where zero stands for none.
   *
   * @throws RequestRejectedException if it is negative
   */
  static long said(Duration time, String what) {
    if (time.isNegative()) {
      throw new RequestRejectedException(ErrorCode.INVALID_ARGUMENT, "", what + " is negative: " + time, "");
    }
    return of(time);
  }
}
