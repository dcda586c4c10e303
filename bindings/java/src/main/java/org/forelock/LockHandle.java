package org.forelock;

import java.util.function.Consumer;

/**
 * The native handle of a lock or a lock set; freed when its object is garbage and was not closed. It must not refer to
 * the object, which would never be garbage otherwise.
 */
final class LockHandle implements Runnable {
  private static final String[] KINDS = {"onLost", "onDanger", "onQueued", "onContended"};
  final ClientCore core;
  final long number;
  final boolean capturesStack;
  private final String name;
  private final long[] listeners = new long[KINDS.length];
  private volatile boolean closed;

  /**
   * A handle of the native library.
   *
   * @param options the options of the lock
   * @param name for messages: "the lock on P1"
   */
  LockHandle(ClientCore core, long number, LockOptions options, String name) {
    this.core = core;
    this.number = number;
    this.capturesStack = options.capturesStack(core);
    this.name = name;
  }

  /**
   * Blocks for at most {@code blockMs}; returns whether the acquisition continues, and an event will report its end.
   * {@code stack} is the call stack; null: none.
   */
  boolean acquireWithin(long timeoutMs, boolean once, long blockMs, long tag, byte[] stack) {
    if (stack != null) {
      Native.lockSetStack(number, stack);
    }
    return once ? Native.lockTryWithin(number, blockMs, tag)
        : Native.lockAcquireWithin(number, timeoutMs, blockMs, tag);
  }

  /** Cancels the acquisition with this tag alone, and no later one. Never throws. */
  void cancel(long tag) {
    Native.lockCancelAsync(number, tag);
  }

  LockState state() {
    return LockState.values()[Math.max(0, Native.lockGetState(number))];
  }

  /** Sets a callback, in place of an earlier one; it runs on the callback thread. */
  void watch(int kind, long marginMs, Consumer<Event> callback) {
    String what = KINDS[Integer.numberOfTrailingZeros(kind)] + " of " + name;
    long tag = core.listen(event -> core.call(what, () -> callback.accept(event)));
    try {
      Native.lockWatch(number, kind, marginMs, tag);
    } catch (RuntimeException problem) {
      core.forget(tag);
      throw problem;
    }
    listens(kind, tag);
  }

  private synchronized void listens(int kind, long tag) {
    int index = Integer.numberOfTrailingZeros(kind);
    core.forget(listeners[index]);
    listeners[index] = tag;
  }

  /** Called when the application closes it. */
  void closing() {
    closed = true;
  }

  @Override
  public void run() {
    int state = Native.lockGetState(number);
    if (!closed && state >= LockState.WAITING.ordinal() && state <= LockState.SUSPECT.ordinal()) {
      core.log(System.Logger.Level.WARNING, name + " was never unlocked or closed; it is freed now");
    }
    Native.lockFree(number);
    synchronized (this) {
      for (long tag : listeners) {
        core.forget(tag);
      }
    }
  }
}
