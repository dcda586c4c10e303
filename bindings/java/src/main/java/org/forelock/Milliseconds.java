package org.forelock;

import java.time.Duration;

/** Durations as the native library takes them, where negative numbers and zero may have meanings of their own. */
final class Milliseconds {
  /** Longer than anyone waits; the instants that it leads to can be computed. */
  private static final Duration MOST = Duration.ofDays(36_500);

  private Milliseconds() {}

  /** Rounded up, so that only zero becomes zero; a negative time is none, as in {@code java.util.concurrent}. */
  static long of(Duration time) {
    if (time.isNegative()) {
      return 0;
    }
    return time.compareTo(MOST) >= 0 ? MOST.toMillis() : time.plusNanos(999_999).toMillis();
  }

  /**
   * The same for what is said rather than waited for, where zero stands for nothing said.
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
