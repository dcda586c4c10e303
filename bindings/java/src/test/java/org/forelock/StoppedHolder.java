package org.forelock;

import java.time.Duration;

/**
 * A holder in a process of its own, which {@link ShutdownTest} ends: it says "held", then why it gets no lock any more,
 * and unlocks when it is told to. Arguments: the server, the monitor, how many milliseconds its end may wait.
 */
final class StoppedHolder {
  private StoppedHolder() {}

  public static void main(String[] arguments) throws Exception {
    ForelockClient client = ForelockClient.builder().servers(arguments[0]).set("zookeeper.session.timeout", "60000")
        .closeOnShutdown(Duration.ofMillis(Long.parseLong(arguments[2]))).build();
    ZkBlockingWriteLock lock = new ZkBlockingWriteLock("stopped", client, arguments[1]);
    lock.lock();
    System.out.println("held for a session of " + client.status().sessionTimeoutMillis() + " ms");
    System.out.println(refusal(lock));
    System.in.read();
    lock.unlock();
    System.out.println("unlocked");
  }

  /** Until the JVM ends, the lock is held already. */
  private static ErrorCode refusal(ZkBlockingWriteLock lock) {
    for (;;) {
      try {
        lock.tryLock();
      } catch (ForelockException problem) {
        if (problem.code() != ErrorCode.ALREADY_HELD) {
          return problem.code();
        }
      }
      Thread.yield();
    }
  }
}
