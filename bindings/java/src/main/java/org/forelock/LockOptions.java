package org.forelock;

import java.time.Duration;

/** What may be said about a lock beyond what for and how urgent. Immutable. */
public final class LockOptions {
  /** Nothing is said. */
  public static final LockOptions NONE = new LockOptions();

  /** For {@link #queueMax}: any number may wait. */
  public static final long UNLIMITED = Native.UNLIMITED;

  final long expectedRuntimeMs;
  final long autoUnlockAfterMs;
  /** Of the native library: fl_lock_flags. */
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

  /** The thread is the one that makes the lock. */
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
   * How long the work is expected to take.
   *
   * @param time more than zero; zero: nothing is said
   * @return options with it
   * @throws RequestRejectedException (INVALID_ARGUMENT) if it is negative
   */
  public LockOptions expectedRuntime(Duration time) {
    return new LockOptions(
        Milliseconds.said(time, "the expected time"), autoUnlockAfterMs, flags, queueMax, captureStack);
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
        expectedRuntimeMs, Milliseconds.said(time, "the time to be unlocked after"), flags, queueMax, captureStack);
  }

  /**
   * Whether an acquisition may get a lock that lingers, and its lock may linger after it
   * ({@code zookeeper.lock.linger}).
   *
   * @param may false: each acquisition has a grant of its own, with a fencing token that no other section has
   * @return options with it
   */
  public LockOptions mayLinger(boolean may) {
    return withFlags(may ? flags & ~Native.LOCK_NO_LINGER : flags | Native.LOCK_NO_LINGER);
  }

  /**
   * Whether a monitor that an acquisition makes stays when it is unused: for a small number of them that are locked
   * again and again.
   *
   * @param keep false: it is removed when nobody has used it for a while ({@code zookeeper.monitor.linger})
   * @return options with it
   */
  public LockOptions keepMonitor(boolean keep) {
    return withFlags(keep ? flags | Native.LOCK_KEEP_MONITOR : flags & ~Native.LOCK_KEEP_MONITOR);
  }

  /**
   * In place of {@code zookeeper.admission}: whether an acquisition that would probably wait in vain is refused at once
   * (LOCK_REFUSED).
   *
   * @param refuse false: it waits all the same
   * @return options with it
   */
  public LockOptions refuseInVain(boolean refuse) {
    long others = flags & ~(Native.LOCK_ADMISSION_REFUSE | Native.LOCK_ADMISSION_OFF);
    return withFlags(others | (refuse ? Native.LOCK_ADMISSION_REFUSE : Native.LOCK_ADMISSION_OFF));
  }

  /**
   * In place of {@code zookeeper.queue.max}: an acquisition is refused at once (LOCK_REFUSED) where so many wait before
   * it.
   *
   * @param waiting more than zero, or {@link #UNLIMITED}; zero: as configured
   * @return options with it; a lock that is made with another negative number is refused (INVALID_ARGUMENT)
   */
  public LockOptions queueMax(long waiting) {
    return new LockOptions(expectedRuntimeMs, autoUnlockAfterMs, flags, waiting, captureStack);
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
    return new LockOptions(expectedRuntimeMs, autoUnlockAfterMs, flags, queueMax, capture);
  }

  private LockOptions withFlags(long all) {
    return new LockOptions(expectedRuntimeMs, autoUnlockAfterMs, all, queueMax, captureStack);
  }
}
