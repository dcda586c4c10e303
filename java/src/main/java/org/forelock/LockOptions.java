package org.forelock;

import java.time.Duration;

/** What may be said about a lock beyond what for and how urgent. Immutable. */
public final class LockOptions {
  /** Nothing is said. */
  public static final LockOptions NONE = new LockOptions(0, 0);

  final long expectedRuntimeMs;
  final long autoUnlockAfterMs;

  private LockOptions(long expectedRuntimeMs, long autoUnlockAfterMs) {
    this.expectedRuntimeMs = expectedRuntimeMs;
    this.autoUnlockAfterMs = autoUnlockAfterMs;
  }

  /**
   * How long the work is expected to take.
   *
   * @param time more than zero
   * @return options with it
   */
  public LockOptions expectedRuntime(Duration time) {
    return new LockOptions(time.toMillis(), autoUnlockAfterMs);
  }

  /**
   * Permits an unlocker to free the lock after that time.
   *
   * @param time more than zero
   * @return options with it
   */
  public LockOptions autoUnlockAfter(Duration time) {
    return new LockOptions(expectedRuntimeMs, time.toMillis());
  }
}
