package org.forelock;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The order in which lock sets take their members: bytewise by the names of their nodes. A node's name is the id in
 * UTF-8; characters that ZooKeeper does not permit in a path are written as %XX.
 */
final class CanonicalOrder {
  private CanonicalOrder() {}

  static List<List<String>> parts(Collection<String> monitors, int most) {
    Map<byte[], String> ordered = new TreeMap<>(Arrays::compareUnsigned);
    for (String monitor : monitors) {
      // As passed to the library, which refuses invalid Unicode.
      ordered.put(nodeName(new String(NativeLibrary.utf8(monitor), StandardCharsets.UTF_8)), monitor);
    }
    List<String> all = List.copyOf(ordered.values());
    List<List<String>> parts = new ArrayList<>();
    for (int begin = 0; begin < all.size(); begin += most) {
      parts.add(all.subList(begin, Math.min(all.size(), begin + most)));
    }
    return parts;
  }

  private static byte[] nodeName(String id) {
    StringBuilder name = new StringBuilder(id.length() + 8);
    boolean reserved = id.equals(".") || id.equals("..");
    for (int at = 0; at < id.length();) {
      int point = id.codePointAt(at);
      int length = Character.charCount(point);
      if (reserved || mustBeEscaped(point) || at == 0 && id.equals("zookeeper")) {
        for (byte one : id.substring(at, at + length).getBytes(StandardCharsets.UTF_8)) {
          name.append('%').append(digit(one >> 4)).append(digit(one));
        }
      } else {
        name.appendCodePoint(point);
      }
      at += length;
    }
    return name.toString().getBytes(StandardCharsets.UTF_8);
  }

  private static char digit(int value) {
    return "0123456789ABCDEF".charAt(value & 0xF);
  }

  private static boolean mustBeEscaped(int c) {
    return c <= 0x1F || c == '/' || c == '%' || c >= 0x7F && c <= 0x9F || c >= 0xD800 && c <= 0xF8FF || c >= 0xFFF0;
  }
}
