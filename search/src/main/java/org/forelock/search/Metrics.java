package org.forelock.search;

import java.util.Locale;
import org.forelock.ClientStatus;
import org.forelock.LockType;

/** The metrics of this node for Prometheus. */
public final class Metrics {
  public static final String CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

  private final StringBuilder text = new StringBuilder();
  private final String prefix;

  private Metrics(String prefix) {
    this.prefix = prefix;
  }

  static String of(String engine, Stats stats, HeldRequests requests, ClientStatus status) {
    Metrics metrics = new Metrics("forelock_" + engine + "_");
    metrics.counts(stats);
    metrics.waits(stats);
    metrics.held(requests);
    metrics.one("items_refused_total", "counter",
        "Items of bulks refused because of their own document's lock alone", stats.refusedItems.sum());
    metrics.one("items_dead_lettered_total", "counter", "Items of bulks that became dead letters",
        stats.deadLettered.sum());
    metrics.one("refused_on_primary_total", "counter",
        "Writes refused at the primary because their lock was not certain any more", stats.refusedOnPrimary.sum());
    metrics.one("unguarded_writes_total", "counter",
        "Writes into guarded indices done by a primary of this node without a guard", stats.unguarded.sum());
    metrics.one("zookeeper_connected", "gauge", "1 while a ZooKeeper server is reached", status.connected() ? 1 : 0);
    metrics.one("zookeeper_requests_total", "counter", "Requests sent to ZooKeeper", status.requests());
    metrics.one("locks_granted_total", "counter", "Locks granted by ZooKeeper", status.granted());
    metrics.one("locks_taken_again_total", "counter",
        "Acquisitions of a lock that lingered, without a request", status.takenAgain());
    metrics.one("locks_lingering", "gauge", "Locks that stay with this node unused", status.lingering());
    return metrics.text.toString();
  }

  private void head(String name, String kind, String help) {
    text.append("# HELP ").append(prefix).append(name).append(' ').append(help).append('\n');
    text.append("# TYPE ").append(prefix).append(name).append(' ').append(kind).append('\n');
  }

  private void one(String name, String kind, String help, long value) {
    head(name, kind, help);
    text.append(prefix).append(name).append(' ').append(value).append('\n');
  }

  private void counts(Stats stats) {
    head("writes_total", "counter", "Guarded writes by what became of them");
    for (LockType type : LockType.values()) {
      for (Stats.Count count : Stats.Count.values()) {
        text.append(String.format(Locale.ROOT, "%swrites_total{priority=\"%s\",result=\"%s\"} %d%n", prefix,
            Names.of(type), Names.of(count), stats.of(type).get(count)));
      }
    }
  }

  private void waits(Stats stats) {
    head("wait_seconds", "histogram", "How long writes waited for locks that they obtained");
    String name = prefix + "wait_seconds";
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
    head("held_requests", "gauge", "Requests that wait for locks");
    for (LockType type : LockType.values()) {
      text.append(String.format(Locale.ROOT, "%sheld_requests{priority=\"%s\"} %d%n", prefix,
          Names.of(type), requests.count(type)));
    }
    head("held_bytes", "gauge", "Their size");
    for (LockType type : LockType.values()) {
      text.append(String.format(Locale.ROOT, "%sheld_bytes{priority=\"%s\"} %d%n", prefix,
          Names.of(type), requests.bytes(type)));
    }
  }
}
