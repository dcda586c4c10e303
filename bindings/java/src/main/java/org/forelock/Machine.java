package org.forelock;

/** The parts of the JVM and of the native library whose failure a test can simulate. */
class Machine {
  Thread thread(Runnable task, String name) {
    return Blocking.daemon(task, name);
  }

  int poll(long client, long timeoutMs, long[] numbers, byte[][] texts) {
    return Native.poll(client, timeoutMs, numbers, texts);
  }
}
