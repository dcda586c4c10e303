package org.forelock.opensearch;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.forelock.ForelockException;
import org.forelock.LockSet;
import org.forelock.LockType;

/**
 * The locks of one shard group, all or none, under one deadline. Thread-safe; no method blocks.
 *
 * <p>They are one lock set. More monitors than a set may have are several, taken one after the other in the order that
 * all sets share, so that two shard groups never wait for each other.
 */
final class DocumentLocks implements Certainty {
  private final LockSource source;
  private final String info;
  private final LockType type;
  private final LongSupplier clock;
  private final List<List<String>> parts;
  private final List<DocumentLock> locks = new ArrayList<>();
  private Consumer<ForelockException> end;
  private long deadline;
  private CompletableFuture<?> waiting;
  private boolean closed;
  private volatile long token;
  private volatile boolean lost;

  DocumentLocks(LockSource source, String info, Collection<String> monitors, LockType type, LongSupplier clock) {
    this.source = source;
    this.info = info;
    this.type = type;
    this.clock = clock;
    this.parts = LockSet.split(monitors);
  }

  /** The monitor that is named where one stands for all. */
  String firstMonitor() {
    return parts.get(0).get(0);
  }

  boolean has(String monitor) {
    return parts.stream().anyMatch(part -> part.contains(monitor));
  }

  /**
   * Begins to obtain them; to be called once.
   *
   * @param end called once, unless {@link #close()} comes first: with null when all are held, else with the reason why
   *     none is. By a thread that must not be kept
   */
  void acquire(long timeoutMillis, Consumer<ForelockException> end) {
    synchronized (this) {
      this.end = end;
      deadline = clock.getAsLong() + timeoutMillis * 1_000_000;
    }
    acquirePart(0);
  }

  private void acquirePart(int index) {
    CompletableFuture<?> wait;
    synchronized (this) {
      if (closed) {
        return;
      }
      try {
        DocumentLock lock = source.lock(info, parts.get(index), type);
        locks.add(lock);
        wait = lock.acquire(Math.max(0, (deadline - clock.getAsLong()) / 1_000_000));
      } catch (ForelockException problem) {
        wait = CompletableFuture.failedFuture(problem);
      }
      waiting = wait;
    }
    wait.whenComplete((ok, failure) -> {
      if (failure != null) {
        finish(reason(failure));
      } else if (index + 1 < parts.size()) {
        acquirePart(index + 1);
      } else {
        finish(null);
      }
    });
  }

  private void finish(ForelockException reason) {
    Consumer<ForelockException> consumer;
    synchronized (this) {
      if (closed) {
        return;
      }
      if (reason == null) {
        long highest = 0;
        for (DocumentLock lock : locks) {
          highest = Math.max(highest, lock.token());
        }
        token = highest;
      }
      consumer = end;
    }
    if (reason != null) {
      close();
    }
    consumer.accept(reason);
  }

  /** Anything but a failure of the library can only be the cancellation by {@link #close()}. */
  private static ForelockException reason(Throwable failure) {
    Throwable cause =
        failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    if (cause instanceof ForelockException) {
      return (ForelockException) cause;
    }
    throw new IllegalStateException(cause);
  }

  @Override
  public boolean certain() {
    return nanosLeft() > 0;
  }

  /** How long all of them are certain from now on. */
  long nanosLeft() {
    if (lost) {
      return 0;
    }
    long least = Long.MAX_VALUE;
    synchronized (this) {
      if (closed) {
        return 0;
      }
      for (DocumentLock lock : locks) {
        least = Math.min(least, lock.nanosLeft());
      }
    }
    lost = least <= 0;
    return lost ? 0 : least;
  }

  @Override
  public long token() {
    return token;
  }

  /** Gives back what is held, and ends what is under way, without waiting. Idempotent. */
  void close() {
    List<DocumentLock> all;
    CompletableFuture<?> wait;
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
      all = List.copyOf(locks);
      wait = waiting;
    }
    if (wait != null) {
      wait.cancel(false);
    }
    for (DocumentLock lock : all) {
      lock.close();
    }
  }
}
