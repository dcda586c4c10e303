package org.forelock.search;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;

/**
 * The PartReports collect values for the headers of a response: of one write, or of all shards' parts of a bulk. Each
 * part is answered in its own context, and the engine keeps only the last one's headers; so the parts report here, and
 * the values are sent with the response to the bulk. Thread-safe.
 */
public final class PartReports {
  /** The key of those of a bulk, among what is known on a node of all that is part of it. */
  public static final String KEY = "_forelock_part_reports";

  private final List<String> waits = new ArrayList<>();
  private final List<String> tokens = new ArrayList<>();
  private String retryAfter;

  public synchronized void granted(long waitedMillis, long token) {
    waits.add(Long.toString(waitedMillis));
    tokens.add(Long.toString(token));
  }

  /** One was refused that may be sent again after so many seconds. */
  public synchronized void tryAgainAfter(long seconds) {
    retryAfter = Long.toString(seconds);
  }

  /** Makes them headers of an answer. @param header adds one, by name and value */
  public synchronized void send(BiConsumer<String, String> header) {
    if (!waits.isEmpty()) {
      header.accept(Headers.WAIT_MS, String.join(", ", waits));
      header.accept(Headers.TOKEN, String.join(", ", tokens));
    }
    if (retryAfter != null) {
      header.accept(Headers.RETRY_AFTER, retryAfter);
    }
  }
}
