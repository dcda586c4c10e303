package org.forelock.opensearch;

import java.util.Locale;
import org.forelock.ClientStatus;
import org.forelock.LockType;

/** What Prometheus reads of this node. */
final class Metrics {
  static final String CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

  private final StringBuilder text = new StringBuilder();

  private Metrics() {}

  static String of(Parts parts) {
    Metrics metrics = new Metrics();
    ClientStatus status = parts.locks.status();
    metrics.counts(parts.stats);
    metrics.waits(parts.stats);
    metrics.held(parts.requests);
    metrics.one("forelock_opensearch_items_refused_total", "counter",
        "Items of bulks refused because of their own document's lock alone", parts.stats.refusedItems.sum());
    metrics.one("forelock_opensearch_items_dead_lettered_total", "counter", "Items of bulks that became dead letters",
        parts.stats.deadLettered.sum());
    metrics.one("forelock_opensearch_refused_on_primary_total", "counter",
        "Writes refused at the primary because their lock was not certain any more",
        parts.stats.refusedOnPrimary.sum());
    metrics.one("forelock_opensearch_unguarded_writes_total", "counter",
        "Writes into guarded indices done by a primary of this node without a guard", parts.stats.unguarded.sum());
    metrics.one("forelock_opensearch_zookeeper_connected", "gauge", "1 while a ZooKeeper server is reached",
        status.connected() ? 1 : 0);
    metrics.one("forelock_opensearch_zookeeper_requests_total", "counter", "Requests sent to ZooKeeper",
        status.requests());
    metrics.one("forelock_opensearch_locks_granted_total", "counter", "Locks granted by ZooKeeper", status.granted());
    metrics.one("forelock_opensearch_locks_taken_again_total", "counter",
        "Acquisitions of a lock that lingered, without a request", status.takenAgain());
    metrics.one("forelock_opensearch_locks_lingering", "gauge", "Locks that stay with this node unused",
        status.lingering());
    return metrics.text.toString();
  }

  private void head(String name, String kind, String help) {
    text.append("# HELP ").append(name).append(' ').append(help).append('\n');
    text.append("# TYPE ").append(name).append(' ').append(kind).append('\n');
  }

  private void one(String name, String kind, String help, long value) {
    head(name, kind, help);
    text.append(name).append(' ').append(value).append('\n');
  }

  private void counts(Stats stats) {
    head("forelock_opensearch_writes_total", "counter", "Guarded writes by what became of them");
    for (LockType type : LockType.values()) {
      for (Stats.Count count : Stats.Count.values()) {
        text.append(String.format(Locale.ROOT, "forelock_opensearch_writes_total{priority=\"%s\",result=\"%s\"} %d%n",
            Names.of(type), Names.of(count), stats.of(type).get(count)));
      }
    }
  }

  private void waits(Stats stats) {
    String name = "forelock_opensearch_wait_seconds";
    head(name, "histogram", "How long writes waited for locks that they obtained");
    for (LockType type : LockType.values()) {
      long[] waits = stats.of(type).waits();
      long sum = 0;
      for (int i = 0; i < waits.length; ++i) {
        sum += waits[i];
        String bound = i < Stats.BOUNDS_MS.length ? Double.toString(Stats.BOUNDS_MS[i] / 1000.0) : "+Inf";
        text.append(String.format(
            Locale.ROOT, "%s_bucket{priority=\"%s\",le=\"%s\"} %d%n", name, Names.of(type), bound, sum));
      }
      text.append(String.format(Locale.ROOT, "%s_sum{priority=\"%s\"} %.6f%n%s_count{priority=\"%s\"} %d%n", name,
          Names.of(type), stats.of(type).waitNanos() / 1e9, name, Names.of(type), sum));
    }
  }

  private void held(HeldRequests requests) {
    head("forelock_opensearch_held_requests", "gauge", "Requests that wait for locks");
    for (LockType type : LockType.values()) {
      text.append(String.format(Locale.ROOT, "forelock_opensearch_held_requests{priority=\"%s\"} %d%n",
          Names.of(type), requests.count(type)));
    }
    head("forelock_opensearch_held_bytes", "gauge", "Their size");
    for (LockType type : LockType.values()) {
      text.append(String.format(Locale.ROOT, "forelock_opensearch_held_bytes{priority=\"%s\"} %d%n",
          Names.of(type), requests.bytes(type)));
    }
  }
}
