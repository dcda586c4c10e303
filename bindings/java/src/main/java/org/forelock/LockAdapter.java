package org.forelock;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/**
 * A lock with the interface of the standard library, and its rules for interruption and for threads that share it. One
 * of these threads at a time, the one that has the turn, contends for the lock among all clients or holds it.
 */
final class LockAdapter implements Lock {
  private final ZkBlockingWriteLock lock;
  private final Semaphore turn = new Semaphore(1, true);
  /** Whether the thread that has the turn holds the lock: the turn ends with the hold, whichever thread unlocks. */
  private final AtomicBoolean held = new AtomicBoolean();

  LockAdapter(ZkBlockingWriteLock lock) {
    this.lock = lock;
  }

  @Override
  public void lock() {
    if (lock.onPoller()) {
      takeTurnAtOnce();
    } else {
      turn.acquireUninterruptibly();
    }
    boolean done = false;
    try {
      lock.acquireUninterruptibly(Native.FOREVER);
      done = true;
    } finally {
      keepIf(done);
    }
  }

  @Override
  public void lockInterruptibly() throws InterruptedException {
    if (lock.onPoller()) {
      takeTurnAtOnce();
    } else {
      turn.acquire();
    }
    boolean done = false;
    try {
      lock.acquireInterruptibly(Native.FOREVER);
      done = true;
    } finally {
      keepIf(done);
    }
  }

  @Override
  public boolean tryLock() {
    if (!turn.tryAcquire()) {
      return false;
    }
    boolean done = false;
    try {
      done = lock.tryLock();
    } catch (InstanceLockException interrupted) {
      // Interrupted meanwhile: the thread's flag is set.
    } finally {
      keepIf(done);
    }
    return done;
  }

  @Override
  public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
    long begin = System.nanoTime();
    long most = unit.toNanos(time);
    if (!turn.tryAcquire(lock.onPoller() ? 0 : most, TimeUnit.NANOSECONDS)) {
      return false;
    }
    boolean done = false;
    try {
      long waited = System.nanoTime() - begin;
      done = lock.tryLockInterruptibly(Milliseconds.of(Duration.ofNanos(Math.max(0, most) - waited)));
    } finally {
      keepIf(done);
    }
    return done;
  }

  @Override
  public void unlock() {
    lock.unlock();
  }

  @Override
  public Condition newCondition() {
    throw new UnsupportedOperationException("a distributed lock has no conditions");
  }

  /** Never waits, for the thread that fetches events: the end of another thread's turn may need it. */
  private void takeTurnAtOnce() {
    if (!turn.tryAcquire()) {
      throw new RequestRejectedException(ErrorCode.ALREADY_HELD, lock.monitor(),
          "another thread has this lock, and the thread that fetches the client's events cannot wait for it",
          "call from another thread, for instance by acquireAsync with an executor");
    }
  }

  private void keepIf(boolean done) {
    if (done) {
      held.set(true);
    } else {
      turn.release();
    }
  }

  /** Called before a release; the result is the argument of {@link #ended}. */
  boolean ends() {
    return held.compareAndSet(true, false);
  }

  /** Called when the lock is free for the next thread. */
  void ended(boolean ofAdapter) {
    if (ofAdapter) {
      turn.release();
    }
  }
}
