package org.forelock;

import java.lang.ref.Reference;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * The acquisitions and releases of one lock object: blocking, interruptible and asynchronous. Thread-safe.
 *
 * @param <T> the lock object, with which futures are completed
 */
final class Contention<T> {
  /** Longer than an uncontended acquisition; shorter than the longest acceptable delay of an interruption. */
  private static final long NATIVE_WAIT_MS = 20;

  private final T owner;
  private final LockHandle handle;
  private final String monitor;
  /** The number of the object's holds that have ended. */
  private long ends;

  /**
   * The contention of one object.
   *
   * @param monitor the monitor that the exception of an interrupted acquisition names
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
    Event refusal = obtain(timeoutMs, false);
    if (refusal != null) {
      throw failure(refusal);
    }
  }

  /** Keeps its place in the queue when the thread is interrupted, whose flag is set at the end then. */
  void acquireUninterruptibly(long timeoutMs) {
    Completion completion = new Completion();
    if (goesOn(completion, timeoutMs, false)) {
      Event end = completion.await();
      if (!end.ok()) {
        throw failure(end);
      }
    }
  }

  /** The exception of a blocking call; after a time-out it names the holder, which the event does not. */
  private ForelockException failure(Event refusal) {
    if (refusal.code != ErrorCode.LOCK_TIMEOUT.number()) {
      return Failures.of(refusal);
    }
    String message = refusal.message + Inspector.describeHolder(handle.core, refusal.monitor);
    return Failures.of(refusal.code, refusal.monitor, message, refusal.hint);
  }

  /** Returns false in place of an InstanceLockException. */
  boolean tryAcquire(long timeoutMs) {
    try {
      return tryInterruptibly(timeoutMs, false);
    } catch (InterruptedException interruption) {
      Thread.currentThread().interrupt();
      throw Failures.interrupted(monitor);
    }
  }

  /** A single attempt, in spite of an earlier interruption; an interruption meanwhile cancels it. */
  boolean tryOnce() {
    boolean interrupted = Thread.interrupted();
    try {
      return tryInterruptibly(Native.CONFIGURED, true);
    } catch (InterruptedException interruption) {
      interrupted = true;
      throw Failures.interrupted(monitor);
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  boolean tryInterruptibly(long timeoutMs, boolean once) throws InterruptedException {
    try {
      Event refusal = obtain(timeoutMs, once);
      if (refusal != null) {
        throw Failures.of(refusal);
      }
      return true;
    } catch (InstanceLockException refusal) {
      return false;
    }
  }

  /** Returns the refusal, or null if it is held. Throws the exceptions of the native call. */
  private Event obtain(long timeoutMs, boolean once) throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    Completion completion = new Completion();
    if (!goesOn(completion, timeoutMs, once)) {
      return null;
    }
    long before = ends();
    Event end = completion.awaitInterruptibly();
    if (end != null) {
      return end.ok() ? null : end;
    }
    handle.cancel(completion.tag);
    if (completion.await().ok()) {
      giveBack(before);
    }
    Thread.interrupted();
    throw new InterruptedException();
  }

  /**
   * Begins to contend. Most acquisitions of a lock end while the thread waits in the native call, without a second
   * thread; an interruption is noticed when that has returned. A virtual thread does not wait there: it would pin its
   * carrier. The thread that fetches events waits there to the end, since no other thread would report it.
   *
   * @return whether the completion will report the end; else the lock is held
   */
  private boolean goesOn(Completion completion, long timeoutMs, boolean once) {
    handle.core.checkMayWait(monitor, "use acquireAsync() or tryLockAsync(), or a thread of your own");
    long wait = handle.core.onPoller() ? Long.MAX_VALUE : NATIVE_WAIT_MS;
    completion.tag = handle.core.expect(completion::complete);
    return begin(completion.tag, timeoutMs, once, Blocking.isVirtual() ? 0 : wait);
  }

  /** Returns whether the tag's consumer will receive the end; else the lock is held. */
  private boolean begin(long tag, long timeoutMs, boolean once, long blockMs) {
    ClientCore core = handle.core;
    boolean pending = false;
    if (core.refuses(tag)) {
      return true;
    }
    try {
      countLoss();
      byte[] stack = handle.capturesStack ? CallStack.capture() : null;
      pending = handle.acquireWithin(timeoutMs, once, blockMs, tag, stack);
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

  /** @param executor completes it; null: the client's */
  CompletableFuture<T> acquireAsync(long timeoutMs, boolean once, Executor executor) {
    Acquisition acquisition = new Acquisition();
    Consumer<ForelockException> end = problem -> {
      Runnable completion = () -> acquisition.end(problem);
      if (executor == null) {
        handle.core.complete(completion);
        return;
      }
      try {
        executor.execute(completion);
      } catch (Throwable refused) {
        // A held lock must not be lost with it, whatever the executor throws.
        completion.run();
        if (!(refused instanceof RejectedExecutionException)) {
          handle.core.log(System.Logger.Level.WARNING, "an executor has thrown", refused);
        }
      }
    };
    acquisition.tag = handle.core.expect(event -> end.accept(event.ok() ? null : Failures.of(event)));
    if (!begin(acquisition.tag, timeoutMs, once, 0)) {
      end.accept(null);
    }
    acquisition.before = ends(); // in time: only its caller can cancel it, and does not have it yet
    return acquisition;
  }

  private final class Acquisition extends CompletableFuture<T> {
    private volatile long before;
    private volatile long tag;
    private final AtomicBoolean ended = new AtomicBoolean();

    void end(ForelockException problem) {
      if (!ended.compareAndSet(false, true)) {
        return; // the executor has run it, and thrown then
      }
      if (problem != null) {
        super.completeExceptionally(problem);
      } else if (!super.complete(owner)) {
        giveBack(before);
      }
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
      return withdrawn(super.cancel(mayInterruptIfRunning));
    }

    /** Called by {@code orTimeout}. */
    @Override
    public boolean completeExceptionally(Throwable problem) {
      return withdrawn(super.completeExceptionally(problem));
    }

    /** Called by {@code completeOnTimeout}. */
    @Override
    public boolean complete(T value) {
      return withdrawn(super.complete(value));
    }

    private boolean withdrawn(boolean byApplication) {
      if (byApplication) {
        handle.cancel(tag);
      }
      return byApplication;
    }

    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
      return new CompletableFuture<>();
    }
  }

  // --- releasing ---

  void release() {
    countRelease();
    if (!Blocking.isVirtual()) {
      try {
        Native.lockRelease(handle.number);
      } finally {
        Reference.reachabilityFence(owner);
      }
      return;
    }
    Completion completion = new Completion();
    beginRelease(completion::complete);
    Event end = completion.await();
    Reference.reachabilityFence(owner);
    if (!end.ok()) {
      throw Failures.of(end);
    }
  }

  /** @param ended run when it is free for the next acquisition */
  CompletableFuture<Void> releaseAsync(Runnable ended) {
    countRelease();
    CompletableFuture<Void> release = new CompletableFuture<>();
    try {
      beginRelease(end -> {
        ended.run();
        handle.core.complete(() -> {
          if (end.ok()) {
            release.complete(null);
          } else {
            release.completeExceptionally(Failures.of(end));
          }
        });
      });
    } catch (RuntimeException | Error problem) {
      ended.run();
      throw problem;
    }
    return release;
  }

  private void beginRelease(Consumer<Event> end) {
    ClientCore core = handle.core;
    long tag = core.expect(end);
    try {
      Native.lockReleaseAsync(handle.number, tag);
    } catch (RuntimeException | Error problem) {
      core.forget(tag);
      throw problem;
    }
    core.fetchIfEnded();
  }

  boolean stepAside(Duration timeout) {
    handle.core.checkMayWait(monitor, "use a thread of your own");
    try {
      Blocking.run(() -> Native.lockStepAside(handle.number, Milliseconds.of(timeout)));
      return true;
    } catch (InstanceLockException problem) {
      return false;
    } finally {
      Reference.reachabilityFence(owner);
    }
  }

  // --- grants that come too late ---

  /** The argument of giveBack(), after an acquisition has begun. */
  private synchronized long ends() {
    return ends;
  }

  /** Called before an acquisition, which may begin after a hold was lost. */
  private synchronized void countLoss() {
    if (handle.state() == LockState.LOST) {
      ++ends;
    }
  }

  /** Called before a release: whatever its outcome, nothing is held afterwards. */
  private synchronized void countRelease() {
    LockState state = handle.state();
    if (state != LockState.FREE && state != LockState.WAITING) {
      ++ends;
    }
  }

  /** Releases the hold of a cancelled acquisition, unless a hold has ended since: it may be that one. */
  private synchronized void giveBack(long before) {
    if (ends == before) {
      Native.lockReleaseDetached(handle.number);
    }
  }
}
