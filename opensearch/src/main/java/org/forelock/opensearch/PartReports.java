package org.forelock.opensearch;

import java.util.ArrayList;
import java.util.List;
import org.opensearch.common.util.concurrent.ThreadContext;

/**
 * The PartReports are what writes have for the headers of a response: of one write, or of all shards' parts of a bulk.
 * Each part is answered in a context of its own, of which OpenSearch keeps the last one's headers alone; so they are
 * told here, and sent with the response to the bulk. Thread-safe.
 */
final class PartReports {
  private static final String KEY = "_forelock_part_reports";

  private final List<String> waits = new ArrayList<>();
  private final List<String> tokens = new ArrayList<>();
  private String retryAfter;

  /** Those of a bulk: what is done in this context, and on this node in those that are made of it, is part of it. */
  static PartReports begin(ThreadContext context) {
    PartReports reports = new PartReports();
    context.putTransient(KEY, reports);
    return reports;
  }

  /** @return those of the bulk to which this context belongs; null: it belongs to none */
  static PartReports of(ThreadContext context) {
    return context.getTransient(KEY);
  }

  synchronized void granted(long waitedMillis, long token) {
    waits.add(Long.toString(waitedMillis));
    tokens.add(Long.toString(token));
  }

  /** One was refused that may be sent again after so many seconds. */
  synchronized void tryAgainAfter(long seconds) {
    retryAfter = Long.toString(seconds);
  }

  /** Makes them headers of what is answered in this context. */
  synchronized void send(ThreadContext context) {
    if (!waits.isEmpty()) {
      context.addResponseHeader(Headers.WAIT_MS, String.join(", ", waits));
      context.addResponseHeader(Headers.TOKEN, String.join(", ", tokens));
    }
    if (retryAfter != null) {
      context.addResponseHeader(Headers.RETRY_AFTER, retryAfter);
    }
  }
}
