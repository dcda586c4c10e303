package org.forelock;

import java.lang.ref.Cleaner;
import java.time.Duration;
import java.util.Objects;

/** The part that a lock and a lock set have in common. */
abstract class HeldLock implements AutoCloseable {
  final LockHandle handle;
  private final String lockInfo;
  private final Cleaner.Cleanable cleanable;
  private volatile LockType lockType;

  HeldLock(String lockInfo, LockType lockType, LockHandle handle) {
    this.lockInfo = Objects.requireNonNull(lockInfo, "lockInfo");
    this.lockType = Objects.requireNonNull(lockType, "lockType");
    this.handle = handle;
    cleanable = ForelockClient.cleaner().register(this, handle);
  }

  /** The acquisitions of this object. */
  abstract Contention<?> contention();

  /**
   * Short description of why the lock is taken.
   *
   * @return as given
   */
  public String lockInfo() {
    return lockInfo;
  }

  /**
   * The class it contends in.
   *
   * @return as given, or as last set
   */
  public LockType lockType() {
    return lockType;
  }

  /**
   * Changes the class: of a lock that waits at once, to the end of its new class's queue and with the same deadline; of
   * one that is free from its next acquisition on. Of a set the member that it waits for moves, and those that it takes
   * afterwards contend in the new class. Does not wait for the servers.
   *
   * @param lockType the class that it is to contend in
   * @return whether it was changed: not while the lock is held, about to be, or being released
   */
  public boolean setPriority(LockType lockType) {
    boolean changed = handle.setPriority(lockType.ordinal());
    if (changed) {
      this.lockType = lockType;
    }
    return changed;
  }

  /**
   * Says that this lock is taken while {@code outer} is held, from its next acquisition on: whoever waits for that one
   * waits for this one as well. So where a foreground contender waits for {@code outer} while this lock waits in the
   * background, it moves to the foreground's queue, 100 ms after it has begun to wait or later, of a set for the member
   * that it waits for; its class stays. May be called for several outer locks; one that is not held, or has been
   * closed, does not count.
   *
   * @param outer a lock of the same client
   */
  public void inside(ZkBlockingWriteLock outer) {
    handle.inside(outer.handle);
  }

  /**
   * As {@link #inside(ZkBlockingWriteLock)}, of a set that is held.
   *
   * @param outer a lock set of the same client
   */
  public void inside(LockSet outer) {
    handle.inside(outer.handle);
  }

  /**
   * Waits at most for the time configured for the lock's class ({@code zookeeper.foregound.task.timeout},
   * {@code zookeeper.backgound.task.timeout}).
   *
   * @throws InstanceLockException not obtained in time (the message says who holds it and what for), cancelled or
   *     interrupted; of a set its monitor is the member that could not be had, and what had been taken has been given
   *     back
   * @throws ConnectionLossException no server could be reached
   * @throws SessionExpiredException the session ended while waiting
   */
  public void lockWithTimeout() {
    contention().acquire(Native.CONFIGURED);
  }

  /** Waits for as long as it takes; otherwise as {@link #lockWithTimeout()}. */
  public void lock() {
    contention().acquire(Native.FOREVER);
  }

  /**
   * Obtains the lock, or each member, if it is free and unwanted; does not queue. Does not care that the thread was
   * interrupted before.
   *
   * @return whether it is held now; if not, nothing of a set is
   */
  public boolean tryLock() {
    return contention().tryOnce();
  }

  /**
   * Waits at most this long.
   *
   * @param timeout at most; zero or less is a single attempt
   * @return whether it is held now; if not, nothing of a set is
   */
  public boolean tryLock(Duration timeout) {
    return contention().tryAcquire(Milliseconds.of(timeout));
  }

  /**
   * Cancels a waiting acquisition of any thread.
   *
   * @return whether there was one, and its grant had not come first
   */
  public boolean cancel() {
    return handle.cancel();
  }

  /**
   * Lets the locks that rank before this one go first and takes it again, without losing its place among its class; of
   * a set all members, the place being kept at the first one. An interruption does not end it.
   *
   * @param timeout at most; a negative one is as zero
   * @return whether it is held again, with a new token; if not, nothing of a set is
   * @throws LockUnhealthyException if it was not held
   */
  public boolean stepAside(Duration timeout) {
    return contention().stepAside(timeout);
  }

  /** Cancels or releases it without waiting, and frees what it needs. Idempotent; later calls of others throw. */
  @Override
  public void close() {
    handle.closing();
    cleanable.clean();
  }
}
