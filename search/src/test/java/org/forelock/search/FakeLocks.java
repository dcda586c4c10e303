package org.forelock.search;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import org.forelock.ErrorCode;
import org.forelock.LockType;
import org.forelock.TestFailures;

/** Locks in memory: what is in {@code others} is held by others; nothing happens by itself. */
public final class FakeLocks implements LockSource {
  public final Map<String, Object> owners = new HashMap<>();
  private final Map<String, List<Fake>> lines = new HashMap<>();
  /** Of each lock its first monitor, and how many it has: + granted, ? waits, ! refused a try, - given back. */
  public final List<String> journal = new ArrayList<>();
  /** Of each lock that was made. */
  public final List<LockType> types = new ArrayList<>();
  /** Which stay when they are unused. */
  public final Set<String> keptMonitors = new TreeSet<>();
  public long nanosLeft = 1_000_000_000;
  /** How acquisitions end, and tries; null: as the owners permit. */
  public ErrorCode failure;
  public ErrorCode tryFailure;
  /** What making a lock on the monitor, and an acquisition that begins with it, throws. */
  public final Map<String, RuntimeException> defects = new HashMap<>();
  public final Map<String, RuntimeException> failures = new HashMap<>();
  private long tokens;

  public void others(String... monitors) {
    for (String monitor : monitors) {
      owners.put(monitor, this);
    }
  }

  /** The holder goes; the first of the queue is granted it. */
  public void release(String monitor) {
    owners.remove(monitor);
    List<Fake> line = lines.get(monitor);
    if (line != null && !line.isEmpty()) {
      line.remove(0).grant();
    }
  }

  /** The time of the first of the queue is up. */
  public void expire(String monitor) {
    lines.get(monitor).remove(0).future.completeExceptionally(TestFailures.of(ErrorCode.LOCK_TIMEOUT, monitor));
  }

  /** The session of all that wait ends, and with it what they hold. */
  public void endSession() {
    List<Fake> waiting = new ArrayList<>();
    lines.values().forEach(waiting::addAll);
    lines.clear();
    owners.values().removeIf(owner -> owner instanceof Fake);
    waiting.forEach(one -> one.future.completeExceptionally(
        TestFailures.of(ErrorCode.SESSION_EXPIRED, one.monitors.get(0))));
  }

  @Override
  public DocumentLock lock(String info, List<String> monitors, LockType type, boolean fenced, boolean kept) {
    RuntimeException defect = defects.get(monitors.get(0));
    if (defect != null) {
      throw defect;
    }
    types.add(type);
    if (kept) {
      keptMonitors.addAll(monitors);
    }
    return new Fake(monitors);
  }

  private final class Fake implements DocumentLock {
    private final List<String> monitors;
    private final CompletableFuture<Void> future = new CompletableFuture<>();
    private long token;

    Fake(List<String> monitors) {
      this.monitors = monitors;
    }

    private String name() {
      return monitors.get(0) + (monitors.size() == 1 ? "" : "*" + monitors.size());
    }

    private void grant() {
      for (String monitor : monitors) {
        owners.put(monitor, this);
        token = ++tokens;
      }
      journal.add("+" + name());
      future.complete(null);
    }

    @Override
    public CompletableFuture<?> acquire(long timeoutMillis) {
      if (failures.containsKey(monitors.get(0))) {
        return CompletableFuture.failedFuture(failures.get(monitors.get(0)));
      }
      if (failure != null) {
        return CompletableFuture.failedFuture(TestFailures.of(failure, monitors.get(0)));
      }
      if (timeoutMillis == 0) { // as the library does it
        return CompletableFuture.failedFuture(TestFailures.of(ErrorCode.LOCK_TIMEOUT, monitors.get(0)));
      }
      for (String monitor : monitors) {
        if (owners.containsKey(monitor)) {
          journal.add("?" + monitor);
          lines.computeIfAbsent(monitor, key -> new ArrayList<>()).add(this);
          return future;
        }
      }
      grant();
      return future;
    }

    @Override
    public CompletableFuture<?> tryAcquire() {
      if (tryFailure != null) {
        return CompletableFuture.failedFuture(TestFailures.of(tryFailure, monitors.get(0)));
      }
      for (String monitor : monitors) {
        if (owners.containsKey(monitor)) {
          journal.add("!" + monitor);
          return CompletableFuture.failedFuture(TestFailures.of(ErrorCode.LOCK_UNAVAILABLE, monitor));
        }
      }
      grant();
      return future;
    }

    @Override
    public boolean prioritize(LockType other) {
      boolean waits = lines.values().stream().anyMatch(line -> line.contains(this));
      if (waits) {
        journal.add("^" + name() + " " + other);
      }
      return waits;
    }

    @Override
    public long nanosLeft() {
      return monitors.stream().allMatch(monitor -> owners.get(monitor) == this) ? nanosLeft : 0;
    }

    @Override
    public long token() {
      return token;
    }

    @Override
    public Map<String, Long> tokens() {
      Map<String, Long> all = new TreeMap<>();
      monitors.forEach(monitor -> all.put(monitor, token));
      return all;
    }

    @Override
    public String heldHeader() {
      return tokens().toString();
    }

    @Override
    public void close() {
      if (owners.get(monitors.get(0)) == this) {
        journal.add("-" + name());
      }
      for (String monitor : monitors) {
        if (owners.get(monitor) == this) {
          release(monitor);
        }
      }
    }
  }
}
