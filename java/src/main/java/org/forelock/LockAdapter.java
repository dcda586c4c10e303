package org.forelock;

import java.time.Duration;
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
    lock.acquireUninterruptibly(Native.FOREVER);
  }

  @Override
  public void lockInterruptibly() throws InterruptedException {
    lock.acquireInterruptibly(Native.FOREVER);
  }

  @Override
  public boolean tryLock() {
    try {
      return lock.tryLock();
    } catch (InstanceLockException interrupted) {
      return false; // meanwhile: the thread's flag says so
    }
  }

  @Override
  public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
    return lock.tryLockInterruptibly(Milliseconds.of(Duration.ofNanos(unit.toNanos(time))));
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
