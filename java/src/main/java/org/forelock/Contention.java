package org.forelock;

import java.lang.ref.Reference;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/**
 * The acquisitions and releases of one lock object: blocking, interruptible and asynchronous. Thread-safe.
 *
 * @param <T> the lock object, which the futures are completed with
 */
final class Contention<T> {
  private final T owner;
  private final LockHandle handle;
  private final String monitor;

  /**
   * That of one object.
   *
   * @param monitor what an interrupted acquisition is said to be about
   */
  Contention(T owner, LockHandle handle, String monitor) {
    this.owner = owner;
    this.handle = handle;
    this.monitor = monitor;
  }

  /** As given. */
  String monitor() {
    return monitor;
  }

  // --- acquiring ---

  void acquire(long timeoutMs) {
    try {
      acquireInterruptibly(timeoutMs);
    } catch (InterruptedException interruption) {
      Thread.currentThread().interrupt();
      throw Failures.interrupted(monitor);
    }
  }

  void acquireInterruptibly(long timeoutMs) throws InterruptedException {
    obtain(timeoutMs, false);
  }

  /** Returns false where an InstanceLockException would say why. */
  boolean tryAcquire(long timeoutMs, boolean once) {
    try {
      return tryInterruptibly(timeoutMs, once);
    } catch (InterruptedException interruption) {
      Thread.currentThread().interrupt();
      throw Failures.interrupted(monitor);
    }
  }

  boolean tryInterruptibly(long timeoutMs, boolean once) throws InterruptedException {
    try {
      obtain(timeoutMs, once);
      return true;
    } catch (InstanceLockException refusal) {
      return false;
    }
  }

  private void obtain(long timeoutMs, boolean once) throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    Completion completion = new Completion();
    if (!goesOn(completion, timeoutMs, once)) {
      return;
    }
    Event end = completion.awaitInterruptibly();
    if (end != null) {
      if (!end.ok()) {
        throw Failures.of(end);
      }
      return;
    }
    try {
      handle.cancel();
    } catch (ForelockException closed) {
      // Then the wait has ended, too.
    }
    if (completion.await().ok()) {
      handle.releaseDetached();
    }
    Thread.interrupted();
    throw new InterruptedException();
  }

  /**
   * Begins to contend. Most acquisitions of a lock end while the thread waits in the native call, without a second
   * thread; an interruption is noticed when that has returned. A virtual thread would pin its carrier.
   *
   * @return whether the completion will tell the end; else the lock is held
   */
  private boolean goesOn(Completion completion, long timeoutMs, boolean once) {
    if (Blocking.isVirtual()) {
      begin(completion::complete, tag -> handle.acquire(timeoutMs, once, tag));
      return true;
    }
    ClientCore core = handle.core;
    long tag = core.expect(completion::complete);
    boolean pending = false;
    try {
      pending = handle.acquireWithin(timeoutMs, once, tag);
    } finally {
      if (!pending) {
        core.forget(tag);
      }
      Reference.reachabilityFence(owner);
    }
    if (pending) {
      core.fetchIfEnded();
    }
    return pending;
  }

  private void begin(Consumer<Event> end, LongConsumer call) {
    ClientCore core = handle.core;
    long tag = core.expect(end);
    try {
      call.accept(tag);
    } catch (RuntimeException problem) {
      core.forget(tag);
      throw problem;
    }
    core.fetchIfEnded();
  }

  /** @param executor completes it; null: the thread for callbacks */
  CompletableFuture<T> acquireAsync(long timeoutMs, boolean once, Executor executor) {
    Acquisition acquisition = new Acquisition();
    Consumer<Event> end = event -> {
      Runnable completion = () -> acquisition.end(event);
      if (executor == null) {
        handle.core.call(completion);
        return;
      }
      try {
        executor.execute(completion);
      } catch (RejectedExecutionException refused) {
        completion.run();
      }
    };
    begin(end, tag -> handle.acquire(timeoutMs, once, tag));
    return acquisition;
  }

  private final class Acquisition extends CompletableFuture<T> {
    void end(Event end) {
      if (!end.ok()) {
        completeExceptionally(Failures.of(end));
      } else if (!complete(owner)) {
        handle.releaseDetached();
      }
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
      boolean cancelled = super.cancel(mayInterruptIfRunning);
      if (cancelled) {
        try {
          handle.cancel();
        } catch (ForelockException closed) {
          // The lock is closed, and with it the acquisition.
        }
      }
      return cancelled;
    }

    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
      return new CompletableFuture<>();
    }
  }

  // --- releasing ---

  void release() {
    if (!Blocking.isVirtual()) {
      try {
        handle.releaseAndWait();
      } finally {
        Reference.reachabilityFence(owner);
      }
      return;
    }
    Completion completion = new Completion();
    begin(completion::complete, handle::release);
    Event end = completion.await();
    if (!end.ok()) {
      throw Failures.of(end);
    }
  }

  CompletableFuture<Void> releaseAsync() {
    CompletableFuture<Void> release = new CompletableFuture<>();
    begin(end -> handle.core.call(() -> {
      if (end.ok()) {
        release.complete(null);
      } else {
        release.completeExceptionally(Failures.of(end));
      }
    }), handle::release);
    return release;
  }

  boolean stepAside(Duration timeout) {
    try {
      Blocking.run(() -> handle.stepAside(timeout.toMillis()));
      return true;
    } catch (InstanceLockException problem) {
      return false;
    } finally {
      Reference.reachabilityFence(owner);
    }
  }
}
