package org.forelock;

import java.lang.ref.Cleaner;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.Lock;
import java.util.function.Consumer;

/**
 * A named, priority-aware lock that excludes all other clients of the same ZooKeeper namespace.
 *
 * <p>Not re-entrant. Ownership belongs to the object, not to a thread: every method may be called from any thread. May
 * be locked and unlocked any number of times, one acquisition at a time. An interruption of a waiting thread withdraws
 * it: it gets an {@link InstanceLockException} ({@link ErrorCode#CANCELLED}), and its flag is set again.
 *
 * <p><em>Not</em> promised: that the lock is still held when the next instruction runs. Give {@link #fencingToken()} to
 * the resource, or write through {@link #writeGuarded}.
 */
public final class ZkBlockingWriteLock implements AutoCloseable {
  /** Kept here, so that a client that the application forgets is not garbage before its locks. */
  private final ForelockClient client;
  private final String lockInfo;
  private final String monitor;
  private volatile LockType lockType;
  final SingleHandle handle;
  private final Contention<ZkBlockingWriteLock> contention;
  private final LockAdapter adapter = new LockAdapter(this);
  private final Cleaner.Cleanable cleanable;

  /**
   * A foreground lock.
   *
   * @param lockInfo short text for people: what for
   * @param zooKeeper the client; must not be closed before the lock is of no use any more
   * @param monitorObject the id of the monitor object: 1 to 255 bytes after encoding
   */
  public ZkBlockingWriteLock(String lockInfo, ZooKeeper zooKeeper, String monitorObject) {
    this(lockInfo, zooKeeper, monitorObject, LockType.FOREGROUND);
  }

  /**
   * A lock of either class.
   *
   * @param lockInfo short text for people: what for
   * @param zooKeeper the client; must not be closed before the lock is of no use any more
   * @param monitorObject the id of the monitor object: 1 to 255 bytes after encoding
   * @param lockType the class it contends in
   */
  public ZkBlockingWriteLock(String lockInfo, ZooKeeper zooKeeper, String monitorObject, LockType lockType) {
    this(lockInfo, zooKeeper, monitorObject, lockType, LockOptions.NONE);
  }

  /**
   * A lock of either class, of which more is said.
   *
   * @param lockInfo short text for people: what for
   * @param zooKeeper the client; must not be closed before the lock is of no use any more
   * @param monitorObject the id of the monitor object: 1 to 255 bytes after encoding
   * @param lockType the class it contends in
   * @param options what else may be said about it
   */
  public ZkBlockingWriteLock(
      String lockInfo, ZooKeeper zooKeeper, String monitorObject, LockType lockType, LockOptions options) {
    this.client = (ForelockClient) zooKeeper;
    this.lockInfo = Objects.requireNonNull(lockInfo, "lockInfo");
    this.monitor = Objects.requireNonNull(monitorObject, "monitorObject");
    this.lockType = Objects.requireNonNull(lockType, "lockType");
    long number = Native.lockNew(client.core().handle, NativeLibrary.told(lockInfo), NativeLibrary.utf8(monitor),
        lockType.ordinal(), options.numbers(), options.texts());
    handle = new SingleHandle(client.core(), number, options, monitor);
    contention = new Contention<>(this, handle, monitor);
    cleanable = ForelockClient.cleaner().register(this, handle);
  }

  /**
   * The monitor object's id.
   *
   * @return as given
   */
  public String monitor() {
    return monitor;
  }

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
   * one that is free from its next acquisition on. Does not wait for the servers.
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
   * background, it moves to the foreground's queue, 100 ms after it has begun to wait or later; its class stays. May be
   * called for several outer locks; one that is not held, or has been closed, does not count.
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

  // --- acquiring ---

  /**
   * Waits at most for the time configured for the lock's class ({@code zookeeper.foregound.task.timeout},
   * {@code zookeeper.backgound.task.timeout}).
   *
   * @throws InstanceLockException not obtained in time (the message says who holds it and what for), cancelled or
   *     interrupted
   * @throws ConnectionLossException no server could be reached
   * @throws SessionExpiredException the session ended while waiting
   */
  public void lockWithTimeout() {
    contention.acquire(Native.CONFIGURED);
  }

  /** Waits for as long as it takes; otherwise as {@link #lockWithTimeout()}. */
  public void lock() {
    contention.acquire(Native.FOREVER);
  }

  /**
   * Obtains the lock if it is free and unwanted; does not queue. Does not care that the thread was interrupted before.
   *
   * @return whether it is held now
   */
  public boolean tryLock() {
    return contention.tryOnce();
  }

  /**
   * Waits at most this long.
   *
   * @param timeout at most; zero or less is a single attempt
   * @return whether it is held now
   */
  public boolean tryLock(Duration timeout) {
    return contention.tryAcquire(Milliseconds.of(timeout));
  }

  /**
   * Begins to contend and returns at once, with the time-out configured for the class.
   *
   * @return completed with this lock when it is held, or exceptionally as {@link #lockWithTimeout()} would end, but
   *     without a word about who holds it: to look would block; by the client's executor
   *     ({@link ForelockClient.Builder#executor}). Cancelling it, or completing it otherwise, as
   *     {@code orTimeout} does, withdraws the acquisition; to do so with a stage that depends on it does not: the lock
   *     may be held afterwards
   */
  public CompletableFuture<ZkBlockingWriteLock> acquireAsync() {
    return contention.acquireAsync(Native.CONFIGURED, false, null);
  }

  /**
   * The same with a time-out of one's own.
   *
   * @param timeout at most; zero or less is a single attempt
   * @return as {@link #acquireAsync()}
   */
  public CompletableFuture<ZkBlockingWriteLock> acquireAsync(Duration timeout) {
    return contention.acquireAsync(Milliseconds.of(timeout), false, null);
  }

  /**
   * The same, completed by an executor of its own.
   *
   * @param timeout at most; zero or less is a single attempt
   * @param executor completes the result, and so runs what depends on it. One that does so at once
   *     ({@code Runnable::run}) has it run by the thread that fetches the client's events, and so does one that
   *     refuses, by whatever exception. That is for what neither blocks nor takes long: meanwhile all other waiting
   *     calls of the client wait on. A lock that is waited for there is not given up for an interruption;
   *     {@link OperationRunner#run} is refused there; and a future of this client that is waited for there never
   *     ends. A lock that has lingered is held at once: then the calling thread takes the place of that one
   * @return as {@link #acquireAsync()}
   */
  public CompletableFuture<ZkBlockingWriteLock> acquireAsync(Duration timeout, Executor executor) {
    return contention.acquireAsync(Milliseconds.of(timeout), false, Objects.requireNonNull(executor));
  }

  /**
   * Begins a single attempt and returns at once: the lock is obtained if it is free and unwanted; it does not queue.
   *
   * @return as {@link #acquireAsync()}; completed exceptionally with {@link ErrorCode#LOCK_UNAVAILABLE} if the lock is
   *     held or waited for
   */
  public CompletableFuture<ZkBlockingWriteLock> tryLockAsync() {
    return contention.acquireAsync(Native.CONFIGURED, true, null);
  }

  /**
   * The same, completed by an executor as that of {@link #acquireAsync(Duration, Executor)}.
   *
   * @param executor completes the result
   * @return as {@link #tryLockAsync()}
   */
  public CompletableFuture<ZkBlockingWriteLock> tryLockAsync(Executor executor) {
    return contention.acquireAsync(Native.CONFIGURED, true, Objects.requireNonNull(executor));
  }

  /**
   * Cancels a waiting acquisition of any thread.
   *
   * @return whether there was one, and its grant had not come first
   */
  public boolean cancel() {
    return handle.cancel();
  }

  void acquireInterruptibly(long timeoutMs) throws InterruptedException {
    contention.acquireInterruptibly(timeoutMs);
  }

  void acquireUninterruptibly(long timeoutMs) {
    contention.acquireUninterruptibly(timeoutMs);
  }

  boolean tryLockInterruptibly(long timeoutMs) throws InterruptedException {
    return contention.tryInterruptibly(timeoutMs, false);
  }

  // --- releasing ---

  /**
   * Releases the lock: one round trip. Waits for the confirmation, at most about the session time-out. Not held any
   * more afterwards, whatever it throws. An interruption does not end it.
   *
   * @throws NoNodeException the lock did not exist any more, or is not held
   * @throws SessionExpiredException the session ended before
   * @throws ConnectionLossException there is no confirmation; the release goes on in the background
   */
  public void unlock() {
    boolean ofAdapter = adapter.ends();
    try {
      contention.release();
    } finally {
      adapter.ended(ofAdapter);
    }
  }

  /**
   * Releases the lock without waiting.
   *
   * @return completed, or completed exceptionally, as {@link #unlock()} ends; by the client's executor
   */
  public CompletableFuture<Void> unlockAsync() {
    boolean ofAdapter = adapter.ends();
    return contention.releaseAsync(() -> adapter.ended(ofAdapter));
  }

  /**
   * Lets the locks that rank before this one go first and takes it again, without losing its place among its class. An
   * interruption does not end it.
   *
   * @param timeout at most; a negative one is as zero
   * @return whether it is held again, with a new token
   * @throws LockUnhealthyException if it was not held
   */
  public boolean stepAside(Duration timeout) {
    return contention.stepAside(timeout);
  }

  /** Cancels or releases it without waiting, and frees what it needs. Idempotent; later calls of others throw. */
  @Override
  public void close() {
    handle.closing();
    cleanable.clean();
    adapter.ended(adapter.ends());
  }

  // --- what is known of a held lock ---

  /**
   * Whether the lock is certain to be held now. Costs no network, and some tens of nanoseconds.
   *
   * @return false for a lock that was closed, too
   */
  public boolean isHealthy() {
    return Native.lockIsHealthy(handle.number);
  }

  /**
   * Returns if {@link #isHealthy()}.
   *
   * @throws LockUnhealthyException otherwise; it says why
   */
  public void checkHealth() {
    Native.lockCheckHealth(handle.number);
  }

  /**
   * The fencing token of the current or last grant: rises strictly from grant to grant of one monitor; with
   * {@code zookeeper.lock.linger} sections of one process may share a grant.
   *
   * @return 0 if there was none
   */
  public long fencingToken() {
    return Native.lockToken(handle.number);
  }

  /**
   * The value of the header {@code X-Forelock-Held} with which a node of OpenSearch that has the plugin does a write
   * under this lock: {@code monitor=token}. Take it anew after each grant.
   *
   * @return a text of ASCII, the monitor's id percent-encoded
   * @throws IllegalStateException if it was never granted
   */
  public String heldHeader() {
    return HeldHeader.of(Map.of(monitor(), fencingToken()));
  }

  /**
   * Until when the lock is certain to live on the servers; moves on by itself while the connection lives.
   *
   * @return on the clock of {@link System#nanoTime()}; 0 if it is not held
   */
  public long expiresAtNanos() {
    return Native.lockExpiresAtNs(handle.number);
  }

  /**
   * How long the lock is certain from now on.
   *
   * @return zero if it is not healthy
   */
  public Duration timeLeft() {
    return Duration.ofNanos(Native.lockTimeLeftNs(handle.number));
  }

  /**
   * Where the lock stands.
   *
   * @return {@link LockState#FREE} for a lock that was closed, too
   */
  public LockState state() {
    return handle.state();
  }

  /**
   * The record of the current acquisition.
   *
   * @return as last written, or as it would be
   */
  public OwnerRecord owner() {
    return OwnerRecord.of(handle.number);
  }

  /**
   * Says that the work goes on as planned.
   *
   * @param expected how long it needs from now on; a negative time is as zero
   * @throws LockUnhealthyException if the lock is not healthy
   */
  public void alive(Duration expected) {
    Native.lockAlive(handle.number, Milliseconds.of(expected));
  }

  /**
   * Commits operations in one transaction with a check that the lock is still ours: all happens while we hold it, or
   * nothing. Waits for a round trip.
   *
   * @param operations what to do
   * @return the new data version for each
   * @throws LockUnhealthyException the lock is not ours any more; nothing was written
   * @throws RequestRejectedException an operation was refused ({@link ErrorCode#WRITE_CONFLICT}); nothing was written
   * @throws ConnectionLossException the message says whether the outcome is unknown
   */
  public int[] writeGuarded(List<WriteOperation> operations) {
    return GuardedWrite.commit(Native::lockWriteGuarded, handle.number, operations);
  }

  /**
   * The callback is called once for each grant that is lost. Set it while the lock is free, as all callbacks: they run
   * on one thread of the client and should be short. A lock that its own callback refers to is freed by
   * {@link #close()} alone, not by the garbage collector.
   *
   * @param callback gets the reason
   */
  public void onLost(Consumer<LossReason> callback) {
    Objects.requireNonNull(callback);
    handle.watch(Native.ON_LOST, 0, event -> callback.accept(LossReason.of(event.value)));
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

  /**
   * The callback is called when this lock's place in the queue becomes known, and when it changes.
   *
   * @param callback gets the place
   */
  public void onQueued(Consumer<QueuePosition> callback) {
    Objects.requireNonNull(callback);
    handle.watch(Native.ON_QUEUED, 0, event -> callback.accept(new QueuePosition(event)));
  }

  /**
   * The callback is called when another client waits behind this holder, once for each class and grant.
   *
   * @param callback gets the class
   */
  public void onContended(Consumer<LockType> callback) {
    Objects.requireNonNull(callback);
    handle.watch(Native.ON_CONTENDED, 0, event -> callback.accept(LockType.of(event.value)));
  }

  /**
   * This lock as one of {@code java.util.concurrent}, for threads that share it: one holds it, the others wait for it
   * in the order in which they came, and then for the other clients of the monitor. Not re-entrant: a thread that holds
   * it and calls {@code lock()} waits for ever. {@code unlock()} may be called by any thread; {@link #unlock()},
   * {@link #unlockAsync()} and {@link #close()} let the next thread in, too. Threads that wait for another thread of
   * this object are not withdrawn by {@link #cancel()}, and are not seen by other clients. Conditions are not
   * supported.
   *
   * @return a view of it, always the same
   */
  public Lock asLock() {
    return adapter;
  }

  boolean onPoller() {
    return handle.core.onPoller();
  }

  @Override
  public String toString() {
    return "ZkBlockingWriteLock(" + monitor + ", " + lockType + ", " + state() + ")";
  }
}
