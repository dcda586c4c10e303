package org.forelock;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/** A lock with the interface of the standard library, and its rules for interruption. */
final class LockAdapter implements Lock {
  private final ZkBlockingWriteLock lock;

  LockAdapter(ZkBlockingWriteLock lock) {
    this.lock = lock;
  }

  @Override
  public void lock() {
    boolean interrupted = false;
    while (true) {
      try {
        lock.acquireInterruptibly(Native.FOREVER);
        break;
      } catch (InterruptedException later) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void lockInterruptibly() throws InterruptedException {
    lock.acquireInterruptibly(Native.FOREVER);
  }

  @Override
  public boolean tryLock() {
    return lock.tryLock();
  }

  @Override
  public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
    return lock.tryLockInterruptibly(Math.max(0, unit.toMillis(time)));
  }

  @Override
  public void unlock() {
    lock.unlock();
  }

  @Override
  public Condition newCondition() {
    throw new UnsupportedOperationException("a distributed lock has no conditions");
  }
}
