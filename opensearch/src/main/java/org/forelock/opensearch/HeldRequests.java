package org.forelock.opensearch;

import java.security.SecureRandom;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.forelock.LockType;

/**
 * The writes of this node that wait for locks or are done under them, and the bounds of their number and bytes.
 * Thread-safe.
 *
 * <p>Both classes count together, and background has the lower bounds: it gives way first.
 */
final class HeldRequests {
  private final ForelockSettings settings;
  private final Stats stats;
  private final Map<Long, HeldRequest> requests = new ConcurrentHashMap<>();
  /** Not from 0: a ticket of a node that was started again must not be that of another write. */
  private final AtomicLong tickets = new AtomicLong(new SecureRandom().nextLong() >>> 2);
  private final long[] count = new long[LockType.values().length];
  private final long[] bytes = new long[LockType.values().length];
  private long mostBytes;
  private boolean closed;

  HeldRequests(ForelockSettings settings, Stats stats) {
    this.settings = settings;
    this.stats = stats;
  }

  long nextTicket() {
    return tickets.incrementAndGet();
  }

  /** What became of {@link #admit}. */
  enum Admission { ADMITTED, TOO_MANY, CLOSED }

  Admission admit(HeldRequest request) {
    LockType type = request.type;
    synchronized (this) {
      if (closed) {
        return Admission.CLOSED;
      }
      if (sum(count) >= settings.maxRequests(type) || sum(bytes) + request.bytes > settings.maxBytes(type)) {
        return Admission.TOO_MANY;
      }
      enter(request);
    }
    return Admission.ADMITTED;
  }

  /** As {@link #admit}, whatever the bounds, for the rest of one that was admitted: it stands in the way of others. */
  synchronized boolean keep(HeldRequest request) {
    if (closed) {
      return false;
    }
    enter(request);
    return true;
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
  boolean run(HeldRequest request) {
    if (!request.run()) {
      return false;
    }
    leave(request);
    return true;
  }

  /** Ends the wait of a request, if it still waits: its locks are given back, and it is answered. */
  boolean refuse(HeldRequest request, Exception answer) {
    if (!request.abandon()) {
      return false;
    }
    requests.remove(request.ticket);
    leave(request);
    request.locks.close();
    request.refuse(answer);
    return true;
  }

  /** As {@link #run}, and it counts until it has ended. */
  boolean runCounted(HeldRequest request) {
    return request.run();
  }

  /** Gives the locks back of a request that was done, whatever came of it. @return whether the caller is the first */
  boolean end(HeldRequest request) {
    if (!request.end()) {
      return false;
    }
    requests.remove(request.ticket);
    leave(request);
    request.locks.close();
    return true;
  }

  /** Ends a request at which something went wrong that should not, whether it waits or is done; it is answered. */
  void fail(HeldRequest request, Exception problem) {
    if (!refuse(request, problem) && end(request)) {
      request.refuse(problem);
    }
  }

  private synchronized void leave(HeldRequest request) {
    if (request.counted) {
      request.counted = false;
      count[request.type.ordinal()]--;
      bytes[request.type.ordinal()] -= request.bytes;
    }
  }

  /** Cancels those that wait and fit. */
  int cancel(Predicate<HeldRequest> which, String reason) {
    int cancelled = 0;
    for (HeldRequest request : requests.values()) {
      if (request.held() && which.test(request) && refuse(request, Refusals.cancelled(reason))) {
        stats.count(request.type, Stats.Count.CANCELLED);
        ++cancelled;
      }
    }
    return cancelled;
  }

  /** No request is held from now on; those that are get their answer. */
  int close() {
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

  /** Those that wait, and those that are being done. */
  Collection<HeldRequest> all() {
    return requests.values();
  }

  HeldRequest get(long ticket) {
    return requests.get(ticket);
  }

  synchronized long count(LockType type) {
    return count[type.ordinal()];
  }

  synchronized long bytes(LockType type) {
    return bytes[type.ordinal()];
  }

  /** The most bytes that were held at one time. */
  synchronized long mostBytes() {
    return mostBytes;
  }
}
