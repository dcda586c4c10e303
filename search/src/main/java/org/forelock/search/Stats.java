package org.forelock.search;

import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import org.forelock.LockType;

/** Stats count the outcomes of writes on this node since it started. Thread-safe. */
public final class Stats {
  /** The outcomes that are counted for each class. */
  public enum Count {
    /** Writes whose locks were obtained. */
    GRANTED,
    /** Not obtained in time: 429. */
    TIMED_OUT,
    /** Too many held: 429. */
    TOO_MANY,
    /** No server could be reached, or the session ended again and again: 503. */
    UNAVAILABLE,
    /** No server could be reached, done without a lock because the setting permits it. */
    ALLOWED,
    /** Cancelled by a request, a task, a disconnection, or the end of the node. */
    CANCELLED,
    /** Granted, but no longer certain when the write was to be done. */
    UNCERTAIN,
    /** The client declared to hold the lock, and does not: 409. */
    NOT_HELD,
    /** Any other failure. */
    FAILED
  }

  /** Upper bounds of the wait's histogram, in milliseconds. */
  public static final long[] BOUNDS_MS = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 30_000, 60_000};

  /** The counts of one class. */
  public static final class OfClass {
    private final Map<Count, LongAdder> counts = new EnumMap<>(Count.class);
    private final LongAdder[] waits = new LongAdder[BOUNDS_MS.length + 1];
    private final LongAdder waitNanos = new LongAdder();

    OfClass() {
      for (Count count : Count.values()) {
        counts.put(count, new LongAdder());
      }
      for (int i = 0; i < waits.length; ++i) {
        waits[i] = new LongAdder();
      }
    }

    public long get(Count count) {
      return counts.get(count).sum();
    }

    /** The number of waits between each bound and the next lower one; the last element: beyond all. */
    public long[] waits() {
      long[] result = new long[waits.length];
      for (int i = 0; i < waits.length; ++i) {
        result[i] = waits[i].sum();
      }
      return result;
    }

    public long waitNanos() {
      return waitNanos.sum();
    }
  }

  private final Map<LockType, OfClass> classes = new EnumMap<>(LockType.class);
  /** Items of bulks that were refused because of their own document's lock, while others of the bulk were not. */
  public final LongAdder refusedItems = new LongAdder();
  /** Items of bulks that became dead letters. */
  public final LongAdder deadLettered = new LongAdder();
  /** Writes that a primary refused on this node. */
  public final LongAdder refusedOnPrimary = new LongAdder();
  /** Writes into guarded indices that a primary did on this node without a guard. */
  public final LongAdder unguarded = new LongAdder();

  public Stats() {
    for (LockType type : LockType.values()) {
      classes.put(type, new OfClass());
    }
  }

  public OfClass of(LockType type) {
    return classes.get(type);
  }

  public void count(LockType type, Count count) {
    of(type).counts.get(count).increment();
  }

  public void granted(LockType type, long waitNanos) {
    OfClass stats = of(type);
    stats.counts.get(Count.GRANTED).increment();
    stats.waitNanos.add(waitNanos);
    int bucket = 0;
    while (bucket < BOUNDS_MS.length && waitNanos > BOUNDS_MS[bucket] * 1_000_000) {
      ++bucket;
    }
    stats.waits[bucket].increment();
  }

  /** For the REST interface. */
  public Map<String, Object> toMap() {
    Map<String, Object> map = new LinkedHashMap<>();
    for (LockType type : LockType.values()) {
      OfClass stats = of(type);
      Map<String, Object> one = new LinkedHashMap<>();
      for (Count count : Count.values()) {
        one.put(Names.of(count), stats.get(count));
      }
      one.put("wait_ms_total", stats.waitNanos() / 1_000_000);
      map.put(Names.of(type), one);
    }
    map.put("items_refused", refusedItems.sum());
    map.put("items_dead_lettered", deadLettered.sum());
    map.put("refused_on_primary", refusedOnPrimary.sum());
    map.put("unguarded_writes", unguarded.sum());
    return map;
  }
}
