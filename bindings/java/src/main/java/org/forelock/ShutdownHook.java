package org.forelock;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Closes a client when the JVM ends in good order, after a time in which its locks may be released. */
final class ShutdownHook {
  private static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(10);

  private final ClientCore core;
  private final long patienceNs;
  private final Thread thread;

  /**
   * Registers the hook.
   *
   * @throws IllegalStateException if the JVM is already shutting down
   */
  ShutdownHook(ClientCore core, Duration patience, Machine machine) {
    this.core = core;
    patienceNs = TimeUnit.MILLISECONDS.toNanos(Milliseconds.of(patience));
    thread = machine.thread(this::close, "forelock-shutdown");
    Runtime.getRuntime().addShutdownHook(thread);
  }

  private void close() {
    long begin = System.nanoTime();
    core.refuseNew();
    while (core.isInUse() && System.nanoTime() - begin < patienceNs) {
      LockSupport.parkNanos(LOOK_NS);
    }
    core.close();
  }

  /** Removes the hook, when the client is closed in another way. */
  void remove() {
    try {
      Runtime.getRuntime().removeShutdownHook(thread);
    } catch (IllegalStateException alreadyEnding) {
      // It runs, and finds the client closed.
    }
  }
}
