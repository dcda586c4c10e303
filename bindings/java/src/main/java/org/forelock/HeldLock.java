package org.forelock;

import java.lang.ref.Cleaner;
import java.time.Duration;
import java.util.List;
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
    boolean changed = Native.lockSetPriority(handle.number, lockType.ordinal());
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
    Native.lockInside(handle.number, outer.handle.number);
  }

  /**
   * As {@link #inside(ZkBlockingWriteLock)}, of a set that is held.
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
    return Native.lockCancel(handle.number);
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

  // --- what is known while it is held ---

  /**
   * The value of the header {@code X-Forelock-Held} with which a node of OpenSearch or Elasticsearch that has the
   * plugin does a write under this lock: {@code monitor=token}; of a set, for all members: {@code monitor=token,
   * monitor=token}. Take it anew after each grant.
   *
   * @return a text of ASCII, the monitors' ids percent-encoded
   * @throws RequestRejectedException (INVALID_ARGUMENT) if it was never granted
   */
  public String heldHeader() {
    return Failures.text(Native.lockHeldHeader(handle.number));
  }

  /**
   * Whether it is certain to be held now, of a set every member. Costs no network, and some tens of nanoseconds.
   *
   * @return false if it was closed, too
   */
  public boolean isHealthy() {
    return Native.lockIsHealthy(handle.number);
  }

  /**
   * Returns if {@link #isHealthy()}.
   *
   * @throws LockUnhealthyException otherwise; it says why, and its monitor is the one that was lost
   */
  public void checkHealth() {
    Native.lockCheckHealth(handle.number);
  }

  /**
   * Until when it is certain to live on the servers; moves on by itself while the connection lives.
   *
   * @return on the clock of {@link System#nanoTime()}; 0 if it is not held
   */
  public long expiresAtNanos() {
    return Native.lockExpiresAtNs(handle.number);
  }

  /**
   * How long it is certain from now on.
   *
   * @return zero if it is not healthy
   */
  public Duration timeLeft() {
    return Duration.ofNanos(Native.lockTimeLeftNs(handle.number));
  }

  /**
   * Where it stands. A set is {@link LockState#LOST} as soon as one member is lost; the others stay held until it is
   * released, so that the work can be stopped first.
   *
   * @return {@link LockState#FREE} if it was closed, too
   */
  public LockState state() {
    return handle.state();
  }

  /**
   * The record of the current acquisition; of a set, that of each member but for the guid and the times of its grant.
   *
   * @return as last written, or as it would be
   */
  public OwnerRecord owner() {
    return OwnerRecord.of(handle.number);
  }

  /**
   * Says that the work goes on as planned, in each lock's record.
   *
   * @param expected how long it needs from now on; a negative time is as zero
   * @throws LockUnhealthyException if it is not healthy
   */
  public void alive(Duration expected) {
    Native.lockAlive(handle.number, Milliseconds.of(expected));
  }

  /**
   * Commits operations in one transaction with a check that the lock, or every member, is still ours: all happens while
   * we hold it, or nothing. Waits for a round trip.
   *
   * @param operations what to do
   * @return the new data version for each
   * @throws LockUnhealthyException its monitor is not ours any more; nothing was written
   * @throws RequestRejectedException an operation was refused ({@link ErrorCode#WRITE_CONFLICT}); nothing was written
   * @throws ConnectionLossException the message says whether the outcome is unknown
   */
  public int[] writeGuarded(List<WriteOperation> operations) {
    return GuardedWrite.commit(handle.number, operations);
  }

  /**
   * The callback is called when less than the margin is left while the connection is silent.
   *
   * @param margin more than zero, at most a third of the session time-out
   * @param callback a chance to stop in good order
   */
  public void onDanger(Duration margin, Runnable callback) {
    Objects.requireNonNull(callback);
    handle.watch(Native.ON_DANGER, Milliseconds.of(margin), event -> callback.run());
  }

  /** Cancels or releases it without waiting, and frees what it needs. Idempotent; later calls of others throw. */
  @Override
  public void close() {
    handle.closing();
    cleanable.clean();
  }
}
