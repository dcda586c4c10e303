package org.forelock.opensearch;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.forelock.ErrorCode;
import org.forelock.ForelockException;
import org.forelock.LockType;

/**
 * The locks of one shard group, all or none, under one deadline. Thread-safe; no method blocks.
 *
 * <p>First every lock is attempted once, all at the same time. If some are not free, those before the first of them in
 * the order of the monitors' names are kept, those behind it are given back; then it waits in the queue of that one,
 * and attempts the rest again. So it waits only while it holds smaller names, and two of them never wait for each
 * other.
 */
final class DocumentLocks implements Certainty {
  /** So long the answer of {@link #certain()} may be old where many locks would have to be asked. */
  private static final long STALE_NANOS = 1_000_000;
  private static final int FEW = 8;

  private final LockSource source;
  private final String info;
  private final LockType type;
  private final LongSupplier clock;
  private final List<String> monitors;
  private final List<DocumentLock> locks = new ArrayList<>();
  private final boolean[] held;
  private Consumer<ForelockException> end;
  private long deadline;
  private int pending;
  private ForelockException problem;
  private CompletableFuture<?> waiting;
  private boolean closed;
  private volatile long token;
  private volatile long certainUntil;
  private volatile long asked;
  private volatile boolean lost;

  DocumentLocks(LockSource source, String info, Collection<String> monitors, LockType type, LongSupplier clock) {
    this.source = source;
    this.info = info;
    this.type = type;
    this.clock = clock;
    this.monitors = List.copyOf(new TreeSet<>(monitors));
    this.held = new boolean[this.monitors.size()];
  }

  /** In the order in which they are taken. */
  List<String> monitors() {
    return monitors;
  }

  /**
   * Begins to obtain them; to be called once.
   *
   * @param end called once, unless {@link #close()} comes first: with null when all are held, else with the reason why
   *     none is. By a thread that must not be kept
   */
  void acquire(long timeoutMillis, Consumer<ForelockException> end) {
    synchronized (this) {
      if (closed) {
        return;
      }
      this.end = end;
      deadline = clock.getAsLong() + timeoutMillis * 1_000_000;
      try {
        for (String monitor : monitors) {
          locks.add(source.lock(info, monitor, type));
        }
      } catch (ForelockException invalid) {
        problem = invalid;
      }
    }
    if (problem != null) {
      finish(problem);
    } else if (monitors.size() == 1) {
      waitFor(0);
    } else {
      attemptAll();
    }
  }

  private void attemptAll() {
    List<Integer> wanted = new ArrayList<>();
    synchronized (this) {
      if (closed) {
        return;
      }
      for (int i = 0; i < held.length; ++i) {
        if (!held[i]) {
          wanted.add(i);
        }
      }
      pending = wanted.size() + 1;
    }
    for (int i : wanted) {
      CompletableFuture<?> attempt = begin(i, true);
      attempt.whenComplete((ok, failure) -> attempted(i, failure));
    }
    attempted(-1, null);
  }

  private void attempted(int index, Throwable failure) {
    int first = -1;
    ForelockException found;
    synchronized (this) {
      if (closed) {
        return;
      }
      if (index >= 0 && failure == null) {
        held[index] = true;
      } else if (failure != null && reason(failure).code() != ErrorCode.LOCK_UNAVAILABLE && problem == null) {
        problem = reason(failure);
      }
      if (--pending > 0) {
        return;
      }
      found = problem;
      if (found == null) {
        first = keepBeforeTheFirstMissing();
      }
    }
    if (found != null || first < 0) {
      finish(found);
    } else {
      waitFor(first);
    }
  }

  private int keepBeforeTheFirstMissing() {
    int first = 0;
    while (first < held.length && held[first]) {
      ++first;
    }
    if (first == held.length) {
      return -1;
    }
    for (int i = first + 1; i < held.length; ++i) {
      if (held[i]) {
        locks.get(i).close();
        locks.set(i, source.lock(info, monitors.get(i), type));
        held[i] = false;
      }
    }
    return first;
  }

  private void waitFor(int index) {
    CompletableFuture<?> wait = begin(index, false);
    synchronized (this) {
      waiting = wait;
      if (closed) {
        wait.cancel(false);
        return;
      }
    }
    wait.whenComplete((ok, failure) -> {
      if (failure != null) {
        finish(reason(failure));
        return;
      }
      synchronized (this) {
        held[index] = true;
      }
      if (held.length == 1) {
        finish(null);
      } else {
        attemptAll();
      }
    });
  }

  private CompletableFuture<?> begin(int index, boolean once) {
    try {
      DocumentLock lock;
      long left;
      synchronized (this) {
        lock = locks.get(index);
        left = Math.max(0, (deadline - clock.getAsLong()) / 1_000_000);
      }
      return once ? lock.attempt() : lock.acquire(left);
    } catch (ForelockException problem) {
      return CompletableFuture.failedFuture(problem);
    }
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
    long now = clock.getAsLong();
    if (lost) {
      return 0;
    }
    if (monitors.size() > FEW && now - asked < STALE_NANOS && certainUntil - now > 0) {
      return certainUntil - now;
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
    if (least <= 0) {
      lost = true;
      return 0;
    }
    certainUntil = now + least;
    asked = now;
    return least;
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
