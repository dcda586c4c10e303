package org.forelock;

/** A lock set of the native library. */
final class SetHandle extends LockHandle {
  SetHandle(ClientCore core, long number, LockOptions options, String name) {
    super(core, number, options, name);
  }

  @Override
  boolean acquireWithin(long timeoutMs, boolean once, long blockMs, long tag, byte[] stack) {
    if (stack != null) {
      Native.setSetStack(number, stack);
    }
    return once ? Native.setTryWithin(number, blockMs, tag)
        : Native.setAcquireWithin(number, timeoutMs, blockMs, tag);
  }

  @Override
  boolean cancel() {
    return Native.setCancel(number);
  }

  @Override
  boolean setPriority(int priority) {
    return Native.setSetPriority(number, priority);
  }

  @Override
  void inside(LockHandle outer) {
    if (outer instanceof SetHandle) {
      Native.setInsideSet(number, outer.number);
    } else {
      Native.setInside(number, outer.number);
    }
  }

  @Override
  void cancel(long tag) {
    Native.setCancelAsync(number, tag);
  }

  @Override
  void release(long tag) {
    Native.setReleaseAsync(number, tag);
  }

  @Override
  void releaseAndWait() {
    Native.setRelease(number);
  }

  @Override
  void releaseDetached() {
    Native.setReleaseDetached(number);
  }

  @Override
  void stepAside(long timeoutMs) {
    Native.setStepAside(number, timeoutMs);
  }

  @Override
  int nativeState() {
    return Native.setGetState(number);
  }

  @Override
  void nativeWatch(int kind, long marginMs, long tag) {
    if (kind == Native.ON_DANGER) {
      Native.setWatchDanger(number, marginMs, tag);
    } else {
      Native.setWatch(number, kind, tag);
    }
  }

  @Override
  void free() {
    Native.setFree(number);
  }
}
