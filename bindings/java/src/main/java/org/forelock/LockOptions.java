package org.forelock;

import java.time.Duration;

/** Options of a lock beyond its purpose and class. Immutable. */
public final class LockOptions {
  /** No options. */
  public static final LockOptions NONE = new LockOptions();

  /** For {@link #queueMax}: no limit. */
  public static final long UNLIMITED = Native.UNLIMITED;

  final long expectedRuntimeMs;
  final long autoUnlockAfterMs;
  /** fl_lock_flags of the native library. */
  private final long flags;
  private final long queueMax;
  private final Boolean captureStack;

  private LockOptions() {
    this(0, 0, 0, 0, null);
  }

  private LockOptions(
      long expectedRuntimeMs, long autoUnlockAfterMs, long flags, long queueMax, Boolean captureStack) {
    this.expectedRuntimeMs = expectedRuntimeMs;
    this.autoUnlockAfterMs = autoUnlockAfterMs;
    this.flags = flags;
    this.queueMax = queueMax;
    this.captureStack = captureStack;
  }

  long[] numbers() {
    long[] numbers = new long[Layouts.LockOptions.NUMBERS];
    numbers[Layouts.LockOptions.EXPECTED_RUNTIME_MS] = expectedRuntimeMs;
    numbers[Layouts.LockOptions.AUTO_UNLOCK_AFTER_MS] = autoUnlockAfterMs;
    numbers[Layouts.LockOptions.FLAGS] = flags;
    numbers[Layouts.LockOptions.QUEUE_MAX] = queueMax;
    return numbers;
  }

  /** For a lock that this thread creates. */
  byte[][] texts() {
    byte[][] texts = new byte[Layouts.LockOptions.TEXTS][];
    texts[Layouts.LockOptions.THREAD_NAME] = NativeLibrary.told(Thread.currentThread().getName());
    return texts;
  }

  boolean capturesStack(ClientCore core) {
    boolean mayLinger = (flags & Native.LOCK_NO_LINGER) == 0;
    return captureStack != null ? captureStack : !(mayLinger && core.lingers);
  }

  /**
   * Sets the expected duration of the work.
   *
   * @param time more than zero; zero: none
   * @return options with it
   * @throws RequestRejectedException (INVALID_ARGUMENT) if it is negative
   */
  public LockOptions expectedRuntime(Duration time) {
    return new LockOptions(
        Milliseconds.said(time, "the expected time"), autoUnlockAfterMs, flags, queueMax, captureStack);
  }

  /**
   * Permits an unlocker to free the lock after this time: {@code forelock serve --unlocker}, or the application's own
   * program.
   *
   * @param time more than zero; zero: none
   * @return options with it
   * @throws RequestRejectedException (INVALID_ARGUMENT) if it is negative
   */
  public LockOptions autoUnlockAfter(Duration time) {
    return new LockOptions(
        expectedRuntimeMs, Milliseconds.said(time, "the time to be unlocked after"), flags, queueMax, captureStack);
  }

  /**
   * Sets whether an acquisition may get a lock that lingers, and its lock may linger afterwards
   * ({@code zookeeper.lock.linger}).
   *
   * @param may false: each acquisition has its own grant, with a fencing token that no other section has
   * @return options with it
   */
  public LockOptions mayLinger(boolean may) {
    return withFlags(may ? flags & ~Native.LOCK_NO_LINGER : flags | Native.LOCK_NO_LINGER);
  }

  /**
   * Sets whether a monitor's node that an acquisition creates stays when it is unused: for a small number of monitors
   * that are locked again and again.
   *
   * @param keep false: it is removed when it has been unused for a while ({@code zookeeper.monitor.linger})
   * @return options with it
   */
  public LockOptions keepMonitor(boolean keep) {
    return withFlags(keep ? flags | Native.LOCK_KEEP_MONITOR : flags & ~Native.LOCK_KEEP_MONITOR);
  }

  /**
   * Overrides {@code zookeeper.admission}: whether an acquisition that would probably time out is refused at once
   * (LOCK_REFUSED).
   *
   * @param refuse false: it waits in any case
   * @return options with it
   */
  public LockOptions refuseInVain(boolean refuse) {
    long others = flags & ~(Native.LOCK_ADMISSION_REFUSE | Native.LOCK_ADMISSION_OFF);
    return withFlags(others | (refuse ? Native.LOCK_ADMISSION_REFUSE : Native.LOCK_ADMISSION_OFF));
  }

  /**
   * Overrides {@code zookeeper.queue.max}: an acquisition is refused at once (LOCK_REFUSED) if that many wait before
   * it.
   *
   * @param waiting more than zero, or {@link #UNLIMITED}; zero: as configured
   * @return options with it; a lock created with another negative number is refused (INVALID_ARGUMENT)
   */
  public LockOptions queueMax(long waiting) {
    return new LockOptions(expectedRuntimeMs, autoUnlockAfterMs, flags, waiting, captureStack);
  }

  /**
   * Sets whether an acquisition records its call stack in its owner record: at most eight frames, some microseconds. By
   * default it does unless the lock may linger ({@code zookeeper.lock.linger}): a record describes a grant's first
   * section alone.
   *
   * @param capture whether it does
   * @return options with it
   */
  public LockOptions captureStack(boolean capture) {
    return new LockOptions(expectedRuntimeMs, autoUnlockAfterMs, flags, queueMax, capture);
  }

  private LockOptions withFlags(long all) {
    return new LockOptions(expectedRuntimeMs, autoUnlockAfterMs, all, queueMax, captureStack);
  }
}
