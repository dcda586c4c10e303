package org.forelock;

import java.time.Duration;
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
public final class ZkBlockingWriteLock extends HeldLock {
  /** Kept here, so that a client that the application forgets is not garbage before its locks. */
  private final ForelockClient client;
  private final String monitor;
  private final Contention<ZkBlockingWriteLock> contention;
  private final LockAdapter adapter = new LockAdapter(this);

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
    super(lockInfo, lockType,
        handle(lockInfo, ((ForelockClient) zooKeeper).core(), monitorObject, lockType, options));
    client = (ForelockClient) zooKeeper;
    monitor = monitorObject;
    contention = new Contention<>(this, handle, monitor);
  }

  private static LockHandle handle(
      String lockInfo, ClientCore core, String monitor, LockType lockType, LockOptions options) {
    long number = Native.lockNew(core.handle, NativeLibrary.told(Objects.requireNonNull(lockInfo, "lockInfo")),
        NativeLibrary.utf8(Objects.requireNonNull(monitor, "monitorObject")),
        Objects.requireNonNull(lockType, "lockType").ordinal(), options.numbers(), options.texts());
    return new LockHandle(core, number, options, "the lock on " + monitor);
  }

  @Override
  Contention<?> contention() {
    return contention;
  }

  /**
   * The monitor object's id.
   *
   * @return as given
   */
  public String monitor() {
    return monitor;
  }

  // --- acquiring ---

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

  /** Cancels or releases it without waiting, and frees what it needs. Idempotent; later calls of others throw. */
  @Override
  public void close() {
    super.close();
    adapter.ended(adapter.ends());
  }

  // --- what is known of a held lock ---

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
    return "ZkBlockingWriteLock(" + monitor + ", " + lockType() + ", " + state() + ")";
  }
}
