package org.forelock;

/** The native methods. Handles are numbers with a generation: one that stands for nothing throws, and nothing else. */
final class Native {
  static final long CONFIGURED = -1;
  static final long FOREVER = -2;
  static final int ON_LOST = 1;
  static final int ON_DANGER = 2;
  static final int ON_QUEUED = 4;
  static final int ON_CONTENDED = 8;

  static {
    NativeLibrary.load();
    if (checkAbi() != 0) {
      throw new UnsatisfiedLinkError("the native library of forelock is not the one that belongs to this jar");
    }
  }

  private Native() {}

  static native int checkAbi();

  static native byte[] version();

  static native long configLoad(byte[] path);

  static native long configParse(byte[] text, byte[] name);

  static native byte[] configGet(long config, byte[] key);

  static native void configSet(long config, byte[][] keys, byte[][] values);

  static native void configFree(long config);

  static native long clientOpen(long config, boolean debug);

  static native void clientWaitConnected(long client, long timeoutMs);

  static native void clientStatus(long client, long[] numbers, byte[][] texts);

  static native void clientTimes(long client, int priority, long[] numbers);

  static native void clientClose(long client);

  static native void clientFree(long client);

  static native int poll(long client, long timeoutMs, long[] numbers, byte[][] texts);

  static native long lockNew(long client, byte[] info, byte[] monitor, int priority, long expectedMs,
      long autoUnlockMs, long flags, long queueMax, byte[] thread);

  /** As LockHandle.acquireWithin(). */
  static native boolean lockAcquireWithin(
      long lock, long timeoutMs, boolean tryOnce, long blockMs, long tag, byte[] stack);

  static native boolean lockCancel(long lock);

  static native boolean lockSetPriority(long lock, int priority);

  static native void lockInside(long lock, long outer);

  static native void lockInsideSet(long lock, long outer);

  /** Of the acquisition with this tag alone; nothing if it has ended, or the lock is closed. */
  static native void lockCancelAsync(long lock, long tag);

  static native void lockRelease(long lock, long tag);

  /** Blocks until the release is confirmed. */
  static native void lockReleaseAndWait(long lock);

  static native void lockReleaseDetached(long lock);

  static native void lockStepAside(long lock, long timeoutMs);

  static native boolean lockFree(long lock);

  static native void lockWatch(long lock, int events, long marginMs, long tag);

  static native boolean lockIsHealthy(long lock);

  static native void lockCheckHealth(long lock);

  static native long lockToken(long lock);

  static native long lockExpiresAt(long lock);

  static native long lockTimeLeft(long lock);

  static native int lockState(long lock);

  static native void lockAlive(long lock, long expectedMs);

  static native void lockWriteGuarded(long lock, int[] kinds, byte[][] paths, byte[][] data, int[] versions);

  static native void lockOwner(long lock, long[] numbers, byte[][] texts);

  static native long setNew(long client, byte[] info, byte[][] monitors, int priority, long expectedMs,
      long autoUnlockMs, long flags, long queueMax, byte[] thread);

  static native boolean setAcquireWithin(
      long set, long timeoutMs, boolean tryOnce, long blockMs, long tag, byte[] stack);

  static native boolean setCancel(long set);

  static native boolean setSetPriority(long set, int priority);

  static native void setInside(long set, long outer);

  static native void setInsideSet(long set, long outer);

  /** As lockCancelAsync. */
  static native void setCancelAsync(long set, long tag);

  static native void setRelease(long set, long tag);

  /** Blocks until the release is confirmed. */
  static native void setReleaseAndWait(long set);

  static native void setReleaseDetached(long set);

  static native void setStepAside(long set, long timeoutMs);

  static native boolean setFree(long set);

  static native void setWatch(long set, int events, long tag);

  static native void setWatchDanger(long set, long marginMs, long tag);

  /** Null: it waits in no queue. */
  static native byte[] setWaitsFor(long set);

  static native void setAlive(long set, long expectedMs);

  /** As lockWriteGuarded. */
  static native void setWriteGuarded(long set, int[] kinds, byte[][] paths, byte[][] data, int[] versions);

  static native boolean setIsHealthy(long set);

  static native void setCheckHealth(long set);

  static native long setExpiresAt(long set);

  static native int setState(long set);

  static native int setSize(long set);

  /** As many as there is room for, in the order in which they are taken. */
  static native void setMembers(long set, byte[][] texts);

  static native void setTokens(long set, long[] tokens);

  static native long inspectList(long client, boolean all, long timeoutMs);

  static native long inspectShow(long client, byte[] monitor, long timeoutMs);

  static native byte[] inspectIdentity(long client, long timeoutMs);

  static native long inspectHolder(long client, byte[] monitor, long timeoutMs);

  static native int viewCount(long view);

  static native void viewMonitor(long view, int index, long[] numbers, byte[][] texts);

  static native void viewWaiter(long view, int index, long[] numbers, byte[][] texts);

  static native void viewFree(long view);

  /** A view, or 0: it belongs to no set. {@code waiter} -1: the holder. */
  static native long inspectSet(long client, long view, long waiter, long timeoutMs);

  static native void viewSet(long view, long[] numbers, byte[][] texts);

  /** As many as there is room for; of those that are held, {@code held} becomes 1. */
  static native void viewSetMembers(long view, byte[][] texts, long[] held);

  static native int forceRelease(long client, byte[] monitor, byte[] holder, long timeoutMs);

  static native boolean hasDeadLetters();

  static native long dlqOpen(long config);

  /** Of each attempt its code and its message, and when it failed and how long it waited, in milliseconds. */
  static native byte[] dlqAccept(long client, long dlq, byte[][] texts, byte[] payload, int priority,
      byte[][] attemptTexts, long[] attemptTimes, int maxAttempts);

  static native boolean dlqFlush(long dlq, long timeoutMs);

  static native byte[] dlqStatus(long dlq, long[] numbers);

  static native void dlqFree(long dlq);

  static native long runnerNew(long client, long dlq, long backoffInitialMs, long backoffCapMs, long maxOperations,
      long retryBurst, double retriesPerSecond);

  static native long runnerSubmit(
      long runner, byte[][] texts, byte[] payload, int priority, long timeoutMs, long tag);

  static native void operationCancel(long operation);

  static native void operationFree(long operation);

  static native boolean attemptSucceed(long attempt);

  static native boolean attemptFail(long attempt, byte[] code, byte[] message, boolean retryable);

  static native void runnerFree(long runner);

  /** Of ids, monitors, types and reasons, and what {@link ReplayOptions} has besides. */
  static native long dlqReplay(long client, long dlq, byte[][][] texts, long[] numbers, double rate, long tag);

  static native void dlqPreviewReplay(long dlq, byte[][][] texts, long[] numbers, double rate, long[] result);

  /** Its payload. */
  static native byte[] attemptLetter(long attempt, long[] numbers, byte[][] texts);

  /** As many as there is room for; as dlqAccept(). */
  static native void attemptFailures(long attempt, long[] times, byte[][] texts);

  static native boolean attemptShouldStop(long attempt);

  static native void replayStop(long replay);

  /** What it could not tidy up. */
  static native byte[] replayReport(long replay, long[] numbers);

  /** Its outcome. */
  static native int replayUnresolved(long replay, int index, byte[][] texts);

  static native void replayFree(long replay);
}
