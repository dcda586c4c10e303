package org.forelock.opensearch;

import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;
import org.forelock.search.HeldRequests;
import org.forelock.search.Letters;
import org.forelock.search.LockSource;
import org.forelock.search.Stats;
import org.opensearch.common.util.concurrent.ThreadContext;

/** A WriteQueue has the objects that the late items of all bulks share. Thread-safe. */
final class WriteQueue {
  private static final long FIRST_PAUSE_MILLIS = 100;
  private static final long LONGEST_PAUSE_MILLIS = 10_000;

  final Letters letters;
  final LockSource source;
  final HeldRequests requests;
  final BulkWriter writer;
  final Workers workers;
  final ThreadContext context;
  final Stats stats;
  final Supplier<String> node;
  final Supplier<String> namespace;

  /**
   * Makes it.
   *
   * @param node the id of this one
   * @param namespace in which its locks are
   */
  WriteQueue(Letters letters, LockSource source, HeldRequests requests, BulkWriter writer, Workers workers,
      ThreadContext context, Stats stats, Supplier<String> node, Supplier<String> namespace) {
    this.letters = letters;
    this.source = source;
    this.requests = requests;
    this.writer = writer;
    this.workers = workers;
    this.context = context;
    this.stats = stats;
    this.node = node;
    this.namespace = namespace;
  }

  /** The pause before the next attempt: random below a bound that doubles, so that late items are spread out. */
  static long pauseMillis(int attempts) {
    long bound = Math.min(LONGEST_PAUSE_MILLIS, FIRST_PAUSE_MILLIS << Math.min(attempts - 1, 10));
    return ThreadLocalRandom.current().nextLong(bound + 1);
  }
}
