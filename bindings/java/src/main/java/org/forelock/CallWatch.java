package org.forelock;

import java.util.concurrent.atomic.AtomicInteger;

/** Detects a callback of the application that has occupied the callback thread for long, while it still runs. */
final class CallWatch {
  private final long limitNs;
  private final AtomicInteger waiting = new AtomicInteger();
  private volatile Call running;

  private static final class Call {
    final String name;
    final long since = System.nanoTime();
    /** Whether it has been reported; used by the watching thread alone. */
    boolean told;

    Call(String name) {
      this.name = name;
    }
  }

  CallWatch(long limitMs) {
    limitNs = limitMs * 1_000_000;
  }

  /** Announces a call, before it is handed to its thread. */
  void expect() {
    waiting.incrementAndGet();
  }

  void begin(String name) {
    running = new Call(name);
  }

  void end() {
    running = null;
    waiting.decrementAndGet();
  }

  /** Whether a call runs or is announced. */
  boolean isBusy() {
    return waiting.get() > 0;
  }

  /** Describes a call that has been running for the limit, once; else null. For one thread. */
  String look() {
    Call call = running;
    long time = call == null ? 0 : System.nanoTime() - call.since;
    if (call == null || call.told || time < limitNs) {
      return null;
    }
    call.told = true;
    return "slow callback: " + call.name + " has been running for " + time / 1_000_000
        + " ms; the callbacks of all locks of a client share a thread, and wait for it";
  }
}
