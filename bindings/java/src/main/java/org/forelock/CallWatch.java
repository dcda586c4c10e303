package org.forelock;

import java.util.concurrent.atomic.AtomicInteger;

/** Notices code of the application that keeps the thread for callbacks busy for long, while it still does. */
final class CallWatch {
  private final long limitNs;
  private final AtomicInteger waiting = new AtomicInteger();
  private volatile Call running;

  private static final class Call {
    final String name;
    final long since = System.nanoTime();
    /** Of the thread that looks. */
    boolean told;

    Call(String name) {
      this.name = name;
    }
  }

  CallWatch(long limitMs) {
    limitNs = limitMs * 1_000_000;
  }

  /** Before a call is left to the thread that will make it. */
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

  /** Whether there is something to look at, now or soon. */
  boolean isBusy() {
    return waiting.get() > 0;
  }

  /** Describes a call that has been running for the limit, once; else null. One thread looks. */
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
