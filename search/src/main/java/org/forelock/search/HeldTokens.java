package org.forelock.search;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * The HeldTokens of a request are the locks that its client declares to hold, as {@code monitor=token, monitor=token},
 * or the token alone of a single monitor. Immutable.
 */
public final class HeldTokens {
  /** A request's headers are bounded by the node as well. */
  public static final int MAX_MONITORS = 1000;

  private final Map<String, Long> tokens;
  /** The token for any monitor; 0: none. */
  private final long only;

  private HeldTokens(Map<String, Long> tokens, long only) {
    this.tokens = tokens;
    this.only = only;
  }

  /**
   * Reads the header.
   *
   * @throws IllegalArgumentException if it is invalid; the message says where
   */
  public static HeldTokens parse(String text) {
    String[] entries = text.split(",", -1);
    if (entries.length > MAX_MONITORS) {
      throw invalid("it names " + entries.length + " monitors, and " + MAX_MONITORS + " are the most");
    }
    if (entries.length == 1 && text.indexOf('=') < 0) {
      return new HeldTokens(Map.of(), token(text.strip(), 1));
    }
    Map<String, Long> tokens = new LinkedHashMap<>();
    for (int i = 0; i < entries.length; ++i) {
      String entry = entries[i].strip();
      int sign = entry.indexOf('=');
      if (sign <= 0) {
        throw invalid("entry " + (i + 1) + ", '" + entry + "', is no monitor=token");
      }
      String monitor = decoded(entry.substring(0, sign), i + 1);
      if (tokens.put(monitor, token(entry.substring(sign + 1), i + 1)) != null) {
        throw invalid("entry " + (i + 1) + " names the monitor '" + monitor + "' again");
      }
    }
    return new HeldTokens(tokens, 0);
  }

  private static IllegalArgumentException invalid(String problem) {
    return new IllegalArgumentException(Headers.HELD + ": " + problem
        + "; write the token of one monitor, or monitor=token, monitor=token, with monitors percent-encoded");
  }

  private static long token(String text, int entry) {
    try {
      long token = text.matches("[0-9]+") ? Long.parseLong(text) : 0;
      if (token > 0) {
        return token;
      }
    } catch (NumberFormatException tooLarge) {
      // as below
    }
    throw invalid("the token of entry " + entry + ", '" + text + "', is no number from 1 to " + Long.MAX_VALUE);
  }

  private static String decoded(String text, int entry) {
    ByteBuffer bytes = ByteBuffer.allocate(text.length() * 3);
    for (int i = 0; i < text.length(); ++i) {
      char letter = text.charAt(i);
      if (letter <= ' ' || letter > '~' || letter == '%' && !text.substring(i).matches("(?s)%[0-9A-Fa-f]{2}.*")) {
        throw invalid("the monitor of entry " + entry + ", '" + text + "', is not percent-encoded");
      }
      if (letter == '%') {
        bytes.put((byte) Integer.parseInt(text.substring(i + 1, i + 3), 16));
        i += 2;
      } else {
        bytes.put((byte) letter);
      }
    }
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(bytes.flip()).toString();
    } catch (CharacterCodingException problem) {
      throw invalid("the monitor of entry " + entry + ", '" + text + "', is not UTF-8");
    }
  }

  /**
   * Checks that it can be meant for a write.
   *
   * @throws IllegalArgumentException if it has one token, and the write several monitors
   */
  public void check(Set<String> monitors) {
    if (only > 0 && monitors.size() > 1) {
      throw invalid("it has one token without a monitor, and the documents that are written together into one shard "
          + "have " + monitors.size() + " monitors");
    }
  }

  /** The token that it has for a monitor; 0: none. */
  public long of(String monitor) {
    return only > 0 ? only : tokens.getOrDefault(monitor, 0L);
  }

  /** The monitors that it names, for a message. */
  public String names() {
    String first = tokens.keySet().iterator().next();
    return tokens.size() == 1 ? first : first + " and " + (tokens.size() - 1) + " more";
  }
}
