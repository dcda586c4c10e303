package org.forelock.search;

import java.security.SecureRandom;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Predicate;
import org.forelock.ForelockException;
import org.forelock.LockType;

/**
 * The writes of this node that wait for locks or are done under them, and the bounds of their number and bytes.
 * Thread-safe.
 *
 * <p>Both classes count together, and background has the lower bounds: it is refused first.
 */
public final class HeldRequests {
  private final Limits limits;
  private final Stats stats;
  private final Predicate<Exception> answered;
  private final BiConsumer<Long, Runnable> later;
  private final Map<Long, HeldRequest> requests = new ConcurrentHashMap<>();
  /** Not from 0: after a restart a node must not reuse a ticket for another write. */
  private final AtomicLong tickets = new AtomicLong(new SecureRandom().nextLong() >>> 2);
  private final long[] count = new long[LockType.values().length];
  private final long[] bytes = new long[LockType.values().length];
  private long mostBytes;
  private boolean closed;

  /**
   * Without a request.
   *
   * @param answered whether a problem of a write is the answer of the node that has its primary
   * @param later does something after so many milliseconds; not if the node ends before
   */
  public HeldRequests(
      Limits limits, Stats stats, Predicate<Exception> answered, BiConsumer<Long, Runnable> later) {
    this.limits = limits;
    this.stats = stats;
    this.answered = answered;
    this.later = later;
  }

  public long nextTicket() {
    return tickets.incrementAndGet();
  }

  /** The result of {@link #admit}. */
  public enum Admission { ADMITTED, TOO_MANY, TOO_LARGE, CLOSED }

  public Admission admit(HeldRequest request) {
    LockType type = request.type;
    synchronized (this) {
      if (closed) {
        return Admission.CLOSED;
      }
      if (request.bytes > limits.maxBytes(type)) {
        return Admission.TOO_LARGE; // it alone: to wait for others to end would not help
      }
      if (sum(count) >= limits.maxRequests(type) || sum(bytes) + request.bytes > limits.maxBytes(type)) {
        return Admission.TOO_MANY;
      }
      enter(request);
    }
    return Admission.ADMITTED;
  }

  /**
   * Gives the place of one that was admitted to what is left of it: it is not asked for anew, and none that comes
   * meanwhile gets it. {@link #prioritize} finds either the one or the other.
   *
   * @param former counts no more from now on
   * @param rest makes what is left, whose locks are to be asked for as of this class
   * @return null: the node is shutting down
   */
  public synchronized HeldRequest takeOver(HeldRequest former, Function<LockType, HeldRequest> rest) {
    leave(former);
    if (closed) {
      return null;
    }
    former.rest = rest.apply(former.waitsAs());
    former.rest.waitAs(former.waitsAs());
    enter(former.rest);
    return former.rest;
  }

  private void enter(HeldRequest request) {
    count[request.type.ordinal()]++;
    bytes[request.type.ordinal()] += request.bytes;
    mostBytes = Math.max(mostBytes, sum(bytes));
    request.counted = true;
    requests.put(request.ticket, request);
  }

  private static long sum(long[] values) {
    return values[0] + values[1];
  }

  /** Goes on with a request, if nothing has ended it. */
  public boolean run(HeldRequest request) {
    if (!request.run()) {
      return false;
    }
    leave(request);
    return true;
  }

  /** Ends the wait of a request, if it still waits: its locks are given back, and it is answered. */
  public boolean refuse(HeldRequest request, Exception answer) {
    if (!request.abandon()) {
      return false;
    }
    leave(request);
    giveBack(request);
    request.refuse(answer);
    return true;
  }

  /** As {@link #run}, and it counts until it has ended. */
  public boolean runCounted(HeldRequest request) {
    return request.run();
  }

  /** Gives the locks back of a request that was done, whatever came of it. @return whether the caller is the first */
  public boolean end(HeldRequest request) {
    return end(request, null);
  }

  /**
   * The same. Where it is not known what has become of the write, another node may still be doing it: then the locks
   * are given back when they are not certain for that node any more.
   *
   * @param problem in which it has ended; null: none
   */
  public boolean end(HeldRequest request, Exception problem) {
    try {
      return endCounted(request, problem);
    } finally {
      leave(request);
    }
  }

  /** The same, and its place stays until {@link #takeOver} or {@link #leave}. */
  public boolean endCounted(HeldRequest request, Exception problem) {
    if (!request.end()) {
      return false;
    }
    long nanos = unknown(request, problem) ? request.promised() : 0;
    if (nanos > 0) {
      later.accept(nanos / 1_000_000 + 1, () -> giveBack(request));
    } else {
      giveBack(request);
    }
    return true;
  }

  /** An answer ends the latest attempt, which has ended those before it ({@link Attempts}) if it came so far. */
  private boolean unknown(HeldRequest request, Exception problem) {
    return problem != null && (request.sentAgain() || !answered.test(problem));
  }

  private void giveBack(HeldRequest request) {
    synchronized (this) {
      request.givenBack = true;
      forgetIfDone(request);
    }
    request.locks.close();
  }

  /** While it counts, a part of it is under way or will be. */
  private void forgetIfDone(HeldRequest request) {
    if (request.givenBack && !request.counted) {
      requests.remove(request.ticket);
    }
  }

  /** Whether another node may go on under locks of this one. */
  public boolean hasPromised() {
    return requests.values().stream().anyMatch(request -> request.promised() > 0);
  }

  /** Ends and answers a request after an unexpected failure, whether it waits or is being done. */
  public void fail(HeldRequest request, Exception problem) {
    if (!refuse(request, problem) && end(request)) {
      request.refuse(problem);
    }
  }

  /** It counts no more. Idempotent. */
  public synchronized void leave(HeldRequest request) {
    if (request.counted) {
      request.counted = false;
      count[request.type.ordinal()]--;
      bytes[request.type.ordinal()] -= request.bytes;
    }
    forgetIfDone(request);
  }

  /** Cancels those that wait and fit. */
  public int cancel(Predicate<HeldRequest> which, String reason) {
    int cancelled = 0;
    for (HeldRequest request : requests.values()) {
      if (request.held() && which.test(request) && refuse(request, Refusals.cancelled(reason))) {
        stats.count(request.type, Stats.Count.CANCELLED);
        ++cancelled;
      }
    }
    return cancelled;
  }

  /**
   * Has those that wait and fit be of another class, also where they go on waiting when an attempt has ended; towards
   * the bounds they count as before.
   *
   * @return how many
   */
  public int prioritize(Predicate<HeldRequest> which, LockType type) {
    Set<HeldRequest> all = new HashSet<>();
    synchronized (this) { // of several attempts at one write the latest alone waits
      requests.values().forEach(request -> all.add(latest(request)));
    }
    int changed = 0;
    for (HeldRequest request : all) {
      if (prioritize(request, which, type)) {
        ++changed;
      }
    }
    return changed;
  }

  /** Guarded by this. */
  private static HeldRequest latest(HeldRequest request) {
    HeldRequest latest = request;
    while (latest.rest != null) {
      latest = latest.rest;
    }
    return latest;
  }

  private boolean prioritize(HeldRequest found, Predicate<HeldRequest> which, LockType type) {
    HeldRequest request = found;
    while (which.test(request)) {
      HeldRequest latest;
      LockType former;
      synchronized (this) {
        latest = latest(request);
        if (!latest.counted) { // it is being done, or was
          return false;
        }
        former = latest.waitsAs();
        if (latest == request) {
          latest.waitAs(type);
        }
      }
      if (latest == request) {
        return ask(request, former, type);
      }
      request = latest; // which waits for less, perhaps for nothing of what is meant
    }
    return false;
  }

  private static boolean ask(HeldRequest request, LockType former, LockType type) {
    try { // of one whose attempt has ended, the next one asks for its locks so
      return request.held() ? request.locks.prioritize(type) : former != type;
    } catch (ForelockException ended) { // its locks were closed meanwhile
      return false;
    }
  }

  /** No request is held from now on; those that are get their answer. */
  public int close() {
    synchronized (this) {
      closed = true;
    }
    int refused = 0;
    for (HeldRequest request : requests.values()) {
      if (refuse(request, Refusals.closing())) {
        stats.count(request.type, Stats.Count.CANCELLED);
        ++refused;
      }
    }
    return refused;
  }

  /** The requests that wait, those that are being done, and those whose locks stay for a while. */
  public Collection<HeldRequest> all() {
    return requests.values();
  }

  public HeldRequest get(long ticket) {
    return requests.get(ticket);
  }

  public synchronized long count(LockType type) {
    return count[type.ordinal()];
  }

  public synchronized long bytes(LockType type) {
    return bytes[type.ordinal()];
  }

  /** The most bytes that were held at one time. */
  public synchronized long mostBytes() {
    return mostBytes;
  }
}
