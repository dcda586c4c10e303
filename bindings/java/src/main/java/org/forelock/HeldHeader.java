package org.forelock;

import java.nio.charset.StandardCharsets;
import java.util.Map;

/** What a lock says of itself to others, as the value of a header of HTTP. */
final class HeldHeader {
  private static final String PLAIN = "-_";

  private HeldHeader() {}

  /**
   * The value for locks that are held.
   *
   * @param tokens the fencing token of each monitor
   * @throws IllegalStateException if one was never granted
   */
  static String of(Map<String, Long> tokens) {
    if (tokens.containsValue(0L)) {
      throw new IllegalStateException("the lock was never granted: there is no token; lock it first");
    }
    StringBuilder text = new StringBuilder();
    tokens.forEach((monitor, token) -> {
      text.append(text.length() == 0 ? "" : ", ");
      encode(monitor, text);
      text.append('=').append(token);
    });
    return text.toString();
  }

  private static void encode(String monitor, StringBuilder text) {
    for (byte one : monitor.getBytes(StandardCharsets.UTF_8)) {
      char letter = (char) (one & 0xff);
      if (letter < 0x80 && (Character.isLetterOrDigit(letter) || PLAIN.indexOf(letter) >= 0)) {
        text.append(letter);
      } else {
        text.append(String.format("%%%02X", (int) letter));
      }
    }
  }
}
