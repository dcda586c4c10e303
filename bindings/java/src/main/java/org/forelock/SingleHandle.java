package org.forelock;

/** A lock of the native library. */
final class SingleHandle extends LockHandle {
  SingleHandle(ClientCore core, long number, LockOptions options, String monitor) {
    super(core, number, options, "the lock on " + monitor);
  }

  @Override
  boolean acquireWithin(long timeoutMs, boolean once, long blockMs, long tag, byte[] stack) {
    if (stack != null) {
      Native.lockSetStack(number, stack);
    }
    return once ? Native.lockTryWithin(number, blockMs, tag)
        : Native.lockAcquireWithin(number, timeoutMs, blockMs, tag);
  }

  @Override
  boolean cancel() {
    return Native.lockCancel(number);
  }

  @Override
  boolean setPriority(int priority) {
    return Native.lockSetPriority(number, priority);
  }

  @Override
  void inside(LockHandle outer) {
    if (outer instanceof SetHandle) {
      Native.lockInsideSet(number, outer.number);
    } else {
      Native.lockInside(number, outer.number);
    }
  }

  @Override
  void cancel(long tag) {
    Native.lockCancelAsync(number, tag);
  }

  @Override
  void release(long tag) {
    Native.lockReleaseAsync(number, tag);
  }

  @Override
  void releaseAndWait() {
    Native.lockRelease(number);
  }

  @Override
  void releaseDetached() {
    Native.lockReleaseDetached(number);
  }

  @Override
  void stepAside(long timeoutMs) {
    Native.lockStepAside(number, timeoutMs);
  }

  @Override
  int nativeState() {
    return Native.lockGetState(number);
  }

  @Override
  void nativeWatch(int kind, long marginMs, long tag) {
    Native.lockWatch(number, kind, marginMs, tag);
  }

  @Override
  void free() {
    Native.lockFree(number);
  }
}
