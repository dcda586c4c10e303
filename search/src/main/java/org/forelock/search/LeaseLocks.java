package org.forelock.search;

import java.util.Collection;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import org.forelock.ForelockException;
import org.forelock.LockType;

/** The LeaseLocks are the locks of one lease: all of them, or none. Thread-safe; no method blocks. */
final class LeaseLocks implements WriteLocks {
  private final LeaseRequest wanted;
  private final DocumentLock lock;

  /** @throws ForelockException if a monitor's name is invalid */
  LeaseLocks(LockSource source, LeaseRequest wanted) {
    this.wanted = wanted;
    this.lock = source.lock(wanted.info(), wanted.monitors(), wanted.type(), true); // its token is for its client alone
  }

  @Override
  public String firstMonitor() {
    return wanted.monitors().get(0);
  }

  @Override
  public boolean has(String monitor) {
    return wanted.monitors().contains(monitor);
  }

  @Override
  public boolean holds(Collection<String> others) {
    return wanted.monitors().containsAll(others);
  }

  @Override
  public void acquire(long timeoutMillis, Consumer<ForelockException> end, Consumer<Exception> defect) {
    CompletableFuture<?> granted = timeoutMillis == 0 ? lock.tryAcquire() : lock.acquire(timeoutMillis);
    granted.whenComplete((nothing, failure) -> {
      Throwable problem = failure instanceof CompletionException ? failure.getCause() : failure;
      if (problem == null || problem instanceof ForelockException) {
        end.accept((ForelockException) problem);
      } else {
        defect.accept(problem instanceof Exception ? (Exception) problem : new IllegalStateException(problem));
      }
    });
  }

  @Override
  public boolean prioritize(LockType type) {
    return lock.prioritize(type);
  }

  @Override
  public long nanosLeft() {
    return lock.nanosLeft();
  }

  @Override
  public long token() {
    return lock.token();
  }

  Map<String, Long> tokens() {
    return lock.tokens();
  }

  String heldHeader() {
    return lock.heldHeader();
  }

  @Override
  public void close() {
    lock.close();
  }
}
