package org.forelock;

/** What a client needs of the JVM and of the native library, and a test can take away. */
class Machine {
  Thread thread(Runnable task, String name) {
    return Blocking.daemon(task, name);
  }

  int poll(long client, long timeoutMs, long[] numbers, byte[][] texts) {
    return Native.poll(client, timeoutMs, numbers, texts);
  }
}
