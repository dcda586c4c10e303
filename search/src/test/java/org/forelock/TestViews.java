package org.forelock;

import java.util.Arrays;
import java.util.List;

/** What an inspector sees, for tests of what is built on it: its constructors are the library's own. */
public final class TestViews {
  private TestViews() {}

  /** A monitor that is held by a client that leaves no record. */
  public static MonitorView held(String monitor, long token) {
    long[] numbers = new long[MonitorView.NUMBERS];
    numbers[OwnerRecord.NUMBERS] = 1;
    numbers[OwnerRecord.NUMBERS + 2] = -1;
    numbers[OwnerRecord.NUMBERS + 3] = 0xabc;
    numbers[OwnerRecord.NUMBERS + 4] = token;
    byte[][] texts = new byte[MonitorView.TEXTS][];
    Arrays.fill(texts, new byte[0]);
    texts[OwnerRecord.TEXTS] = monitor.getBytes(java.nio.charset.StandardCharsets.UTF_8);
    return new MonitorView(numbers, texts, List.of());
  }
}
