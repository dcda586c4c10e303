package org.forelock;

import java.time.Duration;

/** What may be said about a lock beyond what for and how urgent. Immutable. */
public final class LockOptions {
  /** Nothing is said. */
  public static final LockOptions NONE = new LockOptions(0, 0, true, null);

  final long expectedRuntimeMs;
  final long autoUnlockAfterMs;
  final boolean mayLinger;
  private final Boolean captureStack;

  private LockOptions(long expectedRuntimeMs, long autoUnlockAfterMs, boolean mayLinger, Boolean captureStack) {
    this.expectedRuntimeMs = expectedRuntimeMs;
    this.autoUnlockAfterMs = autoUnlockAfterMs;
    this.mayLinger = mayLinger;
    this.captureStack = captureStack;
  }

  boolean capturesStack(ClientCore core) {
    return captureStack != null ? captureStack : !(mayLinger && core.lingers);
  }

  /**
   * How long the work is expected to take.
   *
   * @param time more than zero; zero: nothing is said
   * @return options with it
   * @throws RequestRejectedException (INVALID_ARGUMENT) if it is negative
   */
  public LockOptions expectedRuntime(Duration time) {
    return new LockOptions(
        Milliseconds.said(time, "the expected time"), autoUnlockAfterMs, mayLinger, captureStack);
  }

  /**
   * Writes down that an unlocker may free the lock after that time: {@code forelock serve --unlocker}, or a program of
   * the application's own.
   *
   * @param time more than zero; zero: nothing is said
   * @return options with it
   * @throws RequestRejectedException (INVALID_ARGUMENT) if it is negative
   */
  public LockOptions autoUnlockAfter(Duration time) {
    return new LockOptions(
        expectedRuntimeMs, Milliseconds.said(time, "the time to be unlocked after"), mayLinger, captureStack);
  }

  /**
   * Whether an acquisition may get a lock that lingers, and its lock may linger after it
   * ({@code zookeeper.lock.linger}).
   *
   * @param may false: each acquisition has a grant of its own, with a fencing token that no other section has
   * @return options with it
   */
  public LockOptions mayLinger(boolean may) {
    return new LockOptions(expectedRuntimeMs, autoUnlockAfterMs, may, captureStack);
  }

  /**
   * Whether an acquisition leaves in its owner record where it was called: at most eight frames, some microseconds.
   * Without a word about it, it does unless the lock may linger ({@code zookeeper.lock.linger}): a record is that of a
   * grant's first section alone.
   *
   * @param capture whether it does
   * @return options with it
   */
  public LockOptions captureStack(boolean capture) {
    return new LockOptions(expectedRuntimeMs, autoUnlockAfterMs, mayLinger, capture);
  }
}
