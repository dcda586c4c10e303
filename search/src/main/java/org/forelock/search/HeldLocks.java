package org.forelock.search;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.forelock.ForelockException;
import org.forelock.MonitorView;

/**
 * The locks that the client of a write declares to hold, as confirmed by ZooKeeper. Thread-safe; no method blocks.
 *
 * <p>A look proves that they were held at that moment, but not for how long they will be. So a look counts for
 * {@link #COUNTS_NANOS}, also for writes that arrive meanwhile, as long as its watch reports no change; a longer write
 * looks again meanwhile. If a token is the holder's twice, it was so all the time between.
 */
public final class HeldLocks implements WriteLocks {
  /** The time for which the write may continue, from the begin of the look. */
  public static final long COUNTS_NANOS = 1_000_000_000;
  /** The age up to which a look may begin a write; an older one has too little of its time left. */
  private static final Duration BEGINS = Duration.ofNanos(COUNTS_NANOS / 2);
  /** With less of it left it looks again, so that a continuous writer never waits for a look. */
  private static final long AGAIN_NANOS = COUNTS_NANOS * 3 / 4;
  /** The least time that a look may wait for its turn. */
  private static final long LEAST_MILLIS = 1000;

  private final HolderTokens look;
  private final HeldTokens said;
  private final List<String> monitors;
  private final DocumentTokens tokens;
  private final LongSupplier clock;
  private final Map<String, Refusal> notHeld = new ConcurrentHashMap<>();
  private final AtomicBoolean looking = new AtomicBoolean();
  private volatile long lookedAt;
  private volatile boolean looked;
  private volatile long highest;
  /** Not any more, or the request has ended. */
  private volatile boolean gone;

  public HeldLocks(HolderTokens look, HeldTokens said, Collection<String> monitors, DocumentTokens tokens,
      LongSupplier clock) {
    this.look = look;
    this.said = said;
    this.monitors = List.copyOf(monitors);
    this.tokens = tokens;
    this.clock = clock;
  }

  @Override
  public String firstMonitor() {
    return monitors.get(0);
  }

  @Override
  public boolean has(String monitor) {
    return monitors.contains(monitor);
  }

  @Override
  public boolean holds(Collection<String> wanted) {
    return monitors.containsAll(wanted) && Collections.disjoint(notHeld.keySet(), wanted);
  }

  @Override
  public void acquire(long timeoutMillis, Consumer<ForelockException> end, Consumer<Exception> defect) {
    List<String> named = new ArrayList<>();
    for (String monitor : monitors) {
      if (said.of(monitor) == 0) {
        notHeld.put(monitor, Refusals.notNamed(monitor, said.names()));
      } else {
        named.add(monitor);
      }
    }
    lookAt(named, BEGINS, timeoutMillis, problem -> {
      if (problem == null || problem instanceof ForelockException) {
        end.accept((ForelockException) problem);
      } else {
        defect.accept(problem);
      }
    });
  }

  /**
   * Looks.
   *
   * @param maxAge an earlier look that is no older will do
   * @param done called once; null: all were seen, and what is not held is among the refused
   */
  private void lookAt(List<String> named, Duration maxAge, long timeoutMillis, Consumer<Exception> done) {
    long begun = clock.getAsLong();
    long deadline = begun + Math.max(timeoutMillis, LEAST_MILLIS) * 1_000_000;
    AtomicLong oldest = new AtomicLong(begun);
    AtomicInteger left = new AtomicInteger(named.size() + 1);
    AtomicBoolean ended = new AtomicBoolean();
    Runnable oneLess = () -> {
      if (left.decrementAndGet() == 0 && ended.compareAndSet(false, true)) {
        highest = highestHeld();
        lookedAt = oldest.get();
        looked = true;
        done.accept(null);
      }
    };
    for (String monitor : named) {
      look.of(monitor, said.of(monitor), maxAge, deadline, (seen, problem) -> {
        if (problem != null) {
          if (ended.compareAndSet(false, true)) {
            done.accept(problem);
          }
          return;
        }
        if (seen.isMeant) {
          oldest.accumulateAndGet(seen.since, (one, other) -> one - other < 0 ? one : other);
        } else {
          refuse(monitor, seen.holder);
        }
        oneLess.run();
      });
    }
    oneLess.run();
  }

  private void refuse(String monitor, MonitorView holder) {
    if (looked) {
      gone = true; // it was held when the write began
    } else {
      notHeld.put(monitor, Refusals.notHeld(monitor, said.of(monitor), holder));
    }
  }

  @Override
  public Map<String, Refusal> notHeld() {
    return new TreeMap<>(notHeld);
  }

  @Override
  public long nanosLeft() {
    if (gone || !looked) {
      return 0;
    }
    if (notHeld.size() == monitors.size()) {
      return NO_LOCK;
    }
    long left = lookedAt + COUNTS_NANOS - clock.getAsLong();
    if (left < AGAIN_NANOS && looking.compareAndSet(false, true)) {
      List<String> held = new ArrayList<>(monitors);
      held.removeAll(notHeld.keySet());
      lookAt(held, Duration.ZERO, 0, problem -> looking.set(false)); // one that fails leaves the former look as it is
    }
    return Math.max(left, 0);
  }

  @Override
  public long token() {
    return highest;
  }

  private long highestHeld() {
    return monitors.stream().filter(monitor -> !notHeld.containsKey(monitor)).mapToLong(said::of).max().orElse(0);
  }

  @Override
  public long token(String id) {
    return tokens.of(id, token());
  }

  /** Does nothing: their holder releases them. */
  @Override
  public void close() {
    gone = true;
  }
}
