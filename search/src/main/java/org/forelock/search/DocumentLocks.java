package org.forelock.search;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.forelock.ErrorCode;
import org.forelock.ForelockException;
import org.forelock.LockSet;
import org.forelock.LockType;

/**
 * The locks of one shard group under one deadline: all of them, or all except those that others keep. Thread-safe; no
 * method blocks.
 *
 * <p>They are one lock set. More monitors than a set may have become several sets, taken one after the other in the
 * order that all sets share, so that two shard groups never wait for each other. A monitor that was unavailable when
 * the deadline passed is refused alone: the rest is taken as far as it is free at once; a part that is refused again is
 * tried in halves. These tries do not wait, and their number and the time in which they begin are limited.
 *
 * <p>When the session with ZooKeeper ends before the deadline, no lock is held any more and nothing has been written:
 * all are taken anew in the next session, a limited number of times.
 */
public final class DocumentLocks implements WriteLocks {
  /** Tries after the deadline. */
  public static final int MAX_TRIES = 32;
  /** Of the time after the deadline in which one may begin. */
  public static final long MAX_TRY_NANOS = 1_000_000_000;
  /** Sessions in which it is waited, one after the other. */
  public static final int MAX_SESSIONS = 3;

  private final LockSource source;
  private final String info;
  private final boolean fenced;
  private final boolean kept;
  private final LongSupplier clock;
  private final Set<String> monitors;
  private final List<List<String>> parts;
  /** Neither held nor refused; the next one first. */
  private final Deque<List<String>> pending;
  private final List<DocumentLock> locks = new ArrayList<>();
  /** Monitors that others keep, with the reason; null: there was no try left for it. */
  private final Map<String, ForelockException> refused = new LinkedHashMap<>();
  private LockType type;
  private Consumer<ForelockException> end;
  private Consumer<Exception> defect;
  private long deadline;
  private int tries;
  private int sessions = 1;
  private CompletableFuture<?> waiting;
  private boolean closed;
  private volatile long token;
  private volatile boolean lost;

  /** The locks of these monitors of a plan, with the plan's options. */
  public static DocumentLocks of(WritePlan plan, LockSource source, Collection<String> monitors, LockType type) {
    return new DocumentLocks(source, plan.info, monitors, type, plan.fenced, plan.kept, System::nanoTime);
  }

  /** Whose monitors go when they are unused. */
  public DocumentLocks(LockSource source, String info, Collection<String> monitors, LockType type, boolean fenced,
      LongSupplier clock) {
    this(source, info, monitors, type, fenced, false, clock);
  }

  /** @param fenced none of them has the token of an earlier section, as one that has lingered does */
  private DocumentLocks(LockSource source, String info, Collection<String> monitors, LockType type, boolean fenced,
      boolean kept, LongSupplier clock) {
    this.source = source;
    this.info = info;
    this.type = type;
    this.fenced = fenced;
    this.kept = kept;
    this.clock = clock;
    this.monitors = new HashSet<>(monitors);
    this.parts = LockSet.split(monitors);
    this.pending = new ArrayDeque<>(parts);
  }

  @Override
  public String firstMonitor() {
    return parts.get(0).get(0);
  }

  @Override
  public boolean has(String monitor) {
    return monitors.contains(monitor);
  }

  @Override
  public boolean holds(Collection<String> wanted) {
    return monitors.containsAll(wanted) && Collections.disjoint(refused().keySet(), wanted);
  }

  @Override
  public void acquire(long timeoutMillis, Consumer<ForelockException> end, Consumer<Exception> defect) {
    synchronized (this) {
      this.end = end;
      this.defect = defect;
      deadline = clock.getAsLong() + timeoutMillis * 1_000_000;
    }
    acquirePart();
  }

  private void acquirePart() {
    guarded(this::tryPart);
  }

  /** Runs a step; an exception closes all and goes to the caller, since an unread future would swallow it. */
  private void guarded(Runnable step) {
    try {
      step.run();
    } catch (Throwable problem) {
      close();
      defect.accept(problem instanceof Exception ? (Exception) problem : new IllegalStateException(problem));
    }
  }

  private void tryPart() {
    List<String> part;
    DocumentLock lock = null;
    boolean once;
    ForelockException problem = null;
    synchronized (this) {
      if (closed) {
        return;
      }
      if (!refused.isEmpty() && !mayTry()) {
        pending.forEach(rest -> rest.forEach(monitor -> refused.put(monitor, null)));
        pending.clear();
      }
      part = pending.pollFirst();
      once = !refused.isEmpty();
      if (part != null) {
        try {
          lock = source.lock(info, part, type, fenced, kept);
          locks.add(lock);
        } catch (ForelockException invalid) {
          problem = invalid;
        }
      }
    }
    if (part == null) {
      finish(null);
      return;
    }
    DocumentLock taken = lock;
    CompletableFuture<?> wait = problem == null ? begin(taken, once) : CompletableFuture.failedFuture(problem);
    boolean late;
    synchronized (this) {
      waiting = wait;
      late = closed;
    }
    if (late) {
      wait.cancel(false);
    }
    wait.whenComplete((ok, failure) -> {
      if (failure == null) {
        acquirePart();
      } else {
        guarded(() -> refuse(part, taken, failure));
      }
    });
  }

  /** Without the mutex: when the client is closed, what others asked for may end in this call. */
  private CompletableFuture<?> begin(DocumentLock lock, boolean once) {
    long millis = (deadline - clock.getAsLong()) / 1_000_000;
    try { // an acquisition within no time would not even ask
      return once || millis <= 0 ? lock.tryAcquire() : lock.acquire(millis);
    } catch (ForelockException problem) {
      return CompletableFuture.failedFuture(problem);
    }
  }

  private boolean mayTry() {
    return tries++ < MAX_TRIES && clock.getAsLong() - deadline < MAX_TRY_NANOS;
  }

  /** One monitor of the part, if it is others'; what is left of the part is to be tried in halves. */
  private void refuse(List<String> part, DocumentLock lock, Throwable failure) {
    ForelockException reason = reason(failure);
    if (reason == null) {
      return;
    }
    if (reason.code() == ErrorCode.SESSION_EXPIRED && beginAgain()) {
      acquirePart();
      return;
    }
    boolean others = reason.code() == ErrorCode.LOCK_TIMEOUT || reason.code() == ErrorCode.LOCK_UNAVAILABLE
        || reason.code() == ErrorCode.LOCK_REFUSED;
    if (!others || !part.contains(reason.monitor())) {
      finish(reason);
      return;
    }
    List<String> rest = new ArrayList<>(part);
    rest.remove(reason.monitor());
    synchronized (this) {
      if (closed) {
        return;
      }
      refused.put(reason.monitor(), reason);
      locks.remove(lock);
      int half = (rest.size() + 1) / 2;
      if (half < rest.size()) {
        pending.addFirst(rest.subList(half, rest.size()));
      }
      if (half > 0) {
        pending.addFirst(rest.subList(0, half));
      }
    }
    lock.close();
    acquirePart();
  }

  /** Whether there is time for another session; then nothing is held, and all are to be taken. */
  private boolean beginAgain() {
    List<DocumentLock> former;
    synchronized (this) {
      if (closed || !refused.isEmpty() || sessions == MAX_SESSIONS || clock.getAsLong() - deadline >= 0) {
        return false;
      }
      ++sessions;
      former = List.copyOf(locks);
      locks.clear();
      pending.clear();
      pending.addAll(parts);
    }
    former.forEach(DocumentLock::close);
    return true;
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

  /**
   * Why a lock was not obtained.
   *
   * @return null: the wait was cancelled by {@link #close()}
   * @throws RuntimeException it is no failure of the library
   */
  private ForelockException reason(Throwable failure) {
    Throwable cause =
        failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    if (cause instanceof ForelockException) {
      return (ForelockException) cause;
    }
    synchronized (this) {
      if (closed) {
        return null;
      }
    }
    if (cause instanceof RuntimeException) {
      throw (RuntimeException) cause;
    }
    throw new IllegalStateException(cause);
  }

  @Override
  public synchronized Map<String, ForelockException> refused() {
    return Collections.unmodifiableMap(new LinkedHashMap<>(refused));
  }

  @Override
  public boolean prioritize(LockType other) {
    List<DocumentLock> taken;
    boolean some;
    synchronized (this) {
      if (closed) {
        return false;
      }
      type = other;
      some = !pending.isEmpty();
      taken = List.copyOf(locks);
    }
    for (DocumentLock lock : taken) { // those that are held stay what they are
      some |= lock.prioritize(other);
    }
    return some;
  }

  /** At most the session's time-out. */
  @Override
  public long nanosLeft() {
    if (lost) {
      return 0;
    }
    long least = NO_LOCK;
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

  @Override
  public void close() {
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
