package org.forelock.search;

import java.util.Map;

/** An upper bound of the heap that parsed values take. */
public final class ObjectSize {
  /** Of an object with its reference; an upper bound for a number. */
  private static final long OBJECT_BYTES = 32;
  /** Of an entry of a map. */
  private static final long ENTRY_BYTES = 48;
  /** Of a character: one where it is parsed, and one where it lies as it came. */
  private static final long CHARACTER_BYTES = 2;

  private ObjectSize() {}

  /** Of a value with all that is in it, as deep as the parser of requests lets it be. */
  public static long of(Object value) {
    long bytes = OBJECT_BYTES;
    if (value instanceof CharSequence) {
      bytes += CHARACTER_BYTES * ((CharSequence) value).length();
    } else if (value instanceof byte[]) {
      bytes += ((byte[]) value).length;
    } else if (value instanceof Map) {
      for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
        bytes += ENTRY_BYTES + of(entry.getKey()) + of(entry.getValue());
      }
    } else if (value instanceof Iterable) {
      for (Object one : (Iterable<?>) value) {
        bytes += of(one);
      }
    }
    return bytes;
  }
}
