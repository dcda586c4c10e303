package org.forelock.opensearch;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.forelock.ErrorCode;
import org.forelock.LockType;
import org.forelock.TestFailures;

/** Locks in memory: what is in {@code others} is held by others; nothing happens by itself. */
final class FakeLocks implements LockSource {
  final Map<String, Object> owners = new HashMap<>();
  final Map<String, List<Runnable>> lines = new HashMap<>();
  final List<String> journal = new ArrayList<>();
  long nanosLeft = 1_000_000_000;
  private long tokens;

  void others(String... monitors) {
    for (String monitor : monitors) {
      owners.put(monitor, this);
    }
  }

  /** The holder goes; the first of the queue is granted it. */
  void release(String monitor) {
    owners.remove(monitor);
    List<Runnable> line = lines.get(monitor);
    if (line != null && !line.isEmpty()) {
      line.remove(0).run();
    }
  }

  @Override
  public DocumentLock lock(String info, String monitor, LockType type) {
    return new Fake(monitor);
  }

  private final class Fake implements DocumentLock {
    private final String monitor;
    private final CompletableFuture<Void> future = new CompletableFuture<>();
    private long token;

    Fake(String monitor) {
      this.monitor = monitor;
    }

    private void grant() {
      owners.put(monitor, this);
      token = ++tokens;
      journal.add("+" + monitor);
      future.complete(null);
    }

    @Override
    public CompletableFuture<?> attempt() {
      if (owners.containsKey(monitor)) {
        return CompletableFuture.failedFuture(TestFailures.of(ErrorCode.LOCK_UNAVAILABLE, monitor));
      }
      grant();
      return future;
    }

    @Override
    public CompletableFuture<?> acquire(long timeoutMillis) {
      journal.add("?" + monitor);
      if (timeoutMillis == 0) {
        return CompletableFuture.failedFuture(TestFailures.of(ErrorCode.LOCK_TIMEOUT, monitor));
      }
      if (owners.containsKey(monitor)) {
        lines.computeIfAbsent(monitor, key -> new ArrayList<>()).add(this::grant);
      } else {
        grant();
      }
      return future;
    }

    @Override
    public long nanosLeft() {
      return owners.get(monitor) == this ? nanosLeft : 0;
    }

    @Override
    public long token() {
      return token;
    }

    @Override
    public void close() {
      if (owners.get(monitor) == this) {
        journal.add("-" + monitor);
        release(monitor);
      }
    }
  }
}
