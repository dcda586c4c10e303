package org.forelock;

import java.time.Duration;

/** What may be said about a lock beyond what for and how urgent. Immutable. */
public final class LockOptions {
  /** Nothing is said. */
  public static final LockOptions NONE = new LockOptions(0, 0, true);

  final long expectedRuntimeMs;
  final long autoUnlockAfterMs;
  final boolean mayLinger;

  private LockOptions(long expectedRuntimeMs, long autoUnlockAfterMs, boolean mayLinger) {
    this.expectedRuntimeMs = expectedRuntimeMs;
    this.autoUnlockAfterMs = autoUnlockAfterMs;
    this.mayLinger = mayLinger;
  }

  /**
   * How long the work is expected to take.
   *
   * @param time more than zero
   * @return options with it
   */
  public LockOptions expectedRuntime(Duration time) {
    return new LockOptions(time.toMillis(), autoUnlockAfterMs, mayLinger);
  }

  /**
   * Permits an unlocker to free the lock after that time.
   *
   * @param time more than zero
   * @return options with it
   */
  public LockOptions autoUnlockAfter(Duration time) {
    return new LockOptions(expectedRuntimeMs, time.toMillis(), mayLinger);
  }

  /**
   * Whether an acquisition may get a lock that lingers, and its lock may linger after it
   * ({@code zookeeper.lock.linger}).
   *
   * @param may false: each acquisition has a grant of its own, with a fencing token that no other section has
   * @return options with it
   */
  public LockOptions mayLinger(boolean may) {
    return new LockOptions(expectedRuntimeMs, autoUnlockAfterMs, may);
  }
}
