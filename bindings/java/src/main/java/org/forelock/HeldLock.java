package org.forelock;

import java.lang.ref.Cleaner;
import java.time.Duration;
import java.util.List;
import java.util.Objects;

/** The common part of a lock and a lock set. */
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
   * A short description of the lock's purpose.
   *
   * @return as given
   */
  public String lockInfo() {
    return lockInfo;
  }

  /**
   * The class in which it contends.
   *
   * @return as given, or as last set
   */
  public LockType lockType() {
    return lockType;
  }

  /**
   * Changes the class. A lock that waits moves at once to the end of its new class's queue, with the same deadline; a
   * free one changes from its next acquisition on. In a set, the member that it waits for moves, and members taken
   * afterwards contend in the new class. Does not wait for the servers.
   *
   * @param lockType the new class
   * @return whether it was changed: not while the lock is held, about to be, or being released
   */
  public boolean setPriority(LockType lockType) {
    boolean changed = Native.lockSetPriority(handle.number, lockType.ordinal());
    if (changed) {
      this.lockType = lockType;
    }
    return changed;
  }

  /**
   * Declares that this lock is taken while {@code outer} is held, from its next acquisition on: contenders that wait
   * for {@code outer} then wait for this lock as well. If a foreground contender waits for {@code outer} while this
   * lock waits in the background, this lock (of a set, the member that it waits for) moves to the foreground's queue,
   * no sooner than 100 ms after it began to wait; its class stays. May be called for several outer locks; one that is
   * not held, or has been closed, does not count.
   *
   * @param outer a lock of the same client
   */
  public void inside(ZkBlockingWriteLock outer) {
    Native.lockInside(handle.number, outer.handle.number);
  }

  /**
   * As {@link #inside(ZkBlockingWriteLock)}, for an outer set.
   *
   * @param outer a lock set of the same client
   */
  public void inside(LockSet outer) {
    Native.lockInside(handle.number, outer.handle.number);
  }

  /**
   * Waits at most for the time configured for the lock's class ({@code zookeeper.foregound.task.timeout},
   * {@code zookeeper.backgound.task.timeout}).
   *
   * @throws InstanceLockException not obtained in time (the message names the holder and its purpose), cancelled or
   *     interrupted; for a set its monitor is the unavailable member, and members already taken have been released
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
   * Obtains the lock, or each member, if it is free and no contender waits; does not queue. Ignores an earlier
   * interruption of the thread.
   *
   * @return whether it is held now; if not, no member of a set is
   */
  public boolean tryLock() {
    return contention().tryOnce();
  }

  /**
   * Waits at most for this time.
   *
   * @param timeout at most; zero or less is a single attempt
   * @return whether it is held now; if not, no member of a set is
   */
  public boolean tryLock(Duration timeout) {
    return contention().tryAcquire(Milliseconds.of(timeout));
  }

  /**
   * Cancels a waiting acquisition of any thread.
   *
   * @return whether one was cancelled: false if none waits or the grant came first
   */
  public boolean cancel() {
    return Native.lockCancel(handle.number);
  }

  /**
   * Lets higher-ranking locks go first and takes this one again, without losing its place within its class. A set gives
   * up all members, and keeps its place at the first one. An interruption does not end it.
   *
   * @param timeout at most; a negative one counts as zero
   * @return whether it is held again, with a new token; if not, no member of a set is
   * @throws LockUnhealthyException if it was not held
   */
  public boolean stepAside(Duration timeout) {
    return contention().stepAside(timeout);
  }

  // --- state while it is held ---

  /**
   * The value of the header {@code X-Forelock-Held} with which a node of OpenSearch or Elasticsearch that has the
   * plugin does a write under this lock: {@code monitor=token}; for a set, of all members: {@code monitor=token,
   * monitor=token}. Read it anew after each grant.
   *
   * @return a text of ASCII, the monitors' ids percent-encoded
   * @throws RequestRejectedException (INVALID_ARGUMENT) if it was never granted
   */
  public String heldHeader() {
    return Failures.text(Native.lockHeldHeader(handle.number));
  }

  /**
   * Whether it is certain to be held now; for a set, every member. Takes some tens of nanoseconds and no network.
   *
   * @return also false if it was closed
   */
  public boolean isHealthy() {
    return Native.lockIsHealthy(handle.number);
  }

  /**
   * Returns if {@link #isHealthy()}.
   *
   * @throws LockUnhealthyException otherwise, with the reason and the lost monitor
   */
  public void checkHealth() {
    Native.lockCheckHealth(handle.number);
  }

  /**
   * The time until which it is certain to live on the servers; advances by itself while the connection lives.
   *
   * @return on the clock of {@link System#nanoTime()}; 0 if it is not held
   */
  public long expiresAtNanos() {
    return Native.lockExpiresAtNs(handle.number);
  }

  /**
   * The time for which it is certain from now on.
   *
   * @return zero if it is not healthy
   */
  public Duration timeLeft() {
    return Duration.ofNanos(Native.lockTimeLeftNs(handle.number));
  }

  /**
   * The state. A set is {@link LockState#LOST} as soon as one member is lost; the others stay held until it is
   * released, so that the work can be stopped first.
   *
   * @return also {@link LockState#FREE} if it was closed
   */
  public LockState state() {
    return handle.state();
  }

  /**
   * The owner record of the current acquisition; for a set, of each member but for the guid and the grant's times.
   *
   * @return as last written, or as it would be
   */
  public OwnerRecord owner() {
    return OwnerRecord.of(handle.number);
  }

  /**
   * Records in each lock's owner record that the work continues as planned.
   *
   * @param expected the time that it needs from now on; a negative one counts as zero
   * @throws LockUnhealthyException if it is not healthy
   */
  public void alive(Duration expected) {
    Native.lockAlive(handle.number, Milliseconds.of(expected));
  }

  /**
   * Commits operations in one transaction with a check that the lock, or every member, is still held: all are done
   * while it is held, or none. Waits for a round trip.
   *
   * @param operations the operations to commit
   * @return the new data version for each
   * @throws LockUnhealthyException its monitor is no longer held; nothing was written
   * @throws RequestRejectedException an operation was refused ({@link ErrorCode#WRITE_CONFLICT}); nothing was written
   * @throws ConnectionLossException the message says whether the outcome is unknown
   */
  public int[] writeGuarded(List<WriteOperation> operations) {
    return GuardedWrite.commit(handle.number, operations);
  }

  /**
   * Sets the callback for the time when less than the margin is left while the connection is silent.
   *
   * @param margin more than zero, at most a third of the session time-out
   * @param callback a chance to stop in good order
   */
  public void onDanger(Duration margin, Runnable callback) {
    Objects.requireNonNull(callback);
    handle.watch(Native.ON_DANGER, Milliseconds.of(margin), event -> callback.run());
  }

  /** Cancels or releases it without waiting, and frees its resources. Idempotent; other methods throw then. */
  @Override
  public void close() {
    handle.closing();
    cleanable.clean();
  }
}
