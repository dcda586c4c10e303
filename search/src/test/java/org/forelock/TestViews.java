package org.forelock;

import java.util.Arrays;
import java.util.List;

/** What an inspector sees, for tests of what is built on it: its constructors are the library's own. */
public final class TestViews {
  private TestViews() {}

  /** What was read so long ago. */
  public static HolderToken token(long token, long ageNanos) {
    return new HolderToken(token, ageNanos);
  }

  /** A monitor that is held by a client that leaves no record. */
  public static MonitorView held(String monitor, long token) {
    long[] numbers = new long[Layouts.Monitor.NUMBERS];
    numbers[Layouts.Monitor.HELD] = 1;
    numbers[Layouts.Monitor.HOLDER_PRIORITY] = -1;
    numbers[Layouts.Monitor.HOLDER_SESSION] = 0xabc;
    numbers[Layouts.Monitor.HOLDER_TOKEN] = token;
    byte[][] texts = new byte[Layouts.Monitor.TEXTS][];
    Arrays.fill(texts, new byte[0]);
    texts[Layouts.Monitor.MONITOR] = monitor.getBytes(java.nio.charset.StandardCharsets.UTF_8);
    return new MonitorView(numbers, texts, List.of());
  }
}
