package org.forelock;

import java.lang.ref.Reference;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;

/**
 * The acquisitions and releases of one lock object: blocking, interruptible and asynchronous. Thread-safe.
 *
 * @param <T> the lock object, which the futures are completed with
 */
final class Contention<T> {
  /** Longer than an uncontended acquisition takes; shorter than an interruption may go unnoticed. */
  private static final long NATIVE_WAIT_MS = 20;

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
    return begin(completion::complete, timeoutMs, once, Blocking.isVirtual() ? 0 : NATIVE_WAIT_MS);
  }

  /** Returns whether the consumer will be told the end; else the lock is held. */
  private boolean begin(Consumer<Event> end, long timeoutMs, boolean once, long blockMs) {
    ClientCore core = handle.core;
    long tag = core.expect(end);
    boolean pending = false;
    try {
      pending = handle.acquireWithin(timeoutMs, once, blockMs, tag);
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

  /** @param executor completes it; null: the thread for callbacks */
  CompletableFuture<T> acquireAsync(long timeoutMs, boolean once, Executor executor) {
    Acquisition acquisition = new Acquisition();
    Consumer<ForelockException> end = problem -> {
      Runnable completion = () -> acquisition.end(problem);
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
    if (!begin(event -> end.accept(event.ok() ? null : Failures.of(event)), timeoutMs, once, 0)) {
      end.accept(null);
    }
    return acquisition;
  }

  private final class Acquisition extends CompletableFuture<T> {
    void end(ForelockException problem) {
      if (problem != null) {
        completeExceptionally(problem);
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
    beginRelease(completion::complete);
    Event end = completion.await();
    if (!end.ok()) {
      throw Failures.of(end);
    }
  }

  CompletableFuture<Void> releaseAsync() {
    CompletableFuture<Void> release = new CompletableFuture<>();
    beginRelease(end -> handle.core.call(() -> {
      if (end.ok()) {
        release.complete(null);
      } else {
        release.completeExceptionally(Failures.of(end));
      }
    }));
    return release;
  }

  private void beginRelease(Consumer<Event> end) {
    ClientCore core = handle.core;
    long tag = core.expect(end);
    try {
      handle.release(tag);
    } catch (RuntimeException problem) {
      core.forget(tag);
      throw problem;
    }
    core.fetchIfEnded();
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
