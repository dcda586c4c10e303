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
 * be locked and unlocked any number of times, one acquisition at a time. An interruption of a waiting thread cancels
 * the acquisition: the thread gets an {@link InstanceLockException} ({@link ErrorCode#CANCELLED}), and its flag is set
 * again.
 *
 * <p><em>Not</em> promised: that the lock is still held when the next instruction runs. Give {@link #fencingToken()} to
 * the resource, or write through {@link #writeGuarded}.
 */
public final class ZkBlockingWriteLock extends HeldLock {
  /** A reference, so that a client that the application drops is not garbage before its locks. */
  private final ForelockClient client;
  private final String monitor;
  private final Contention<ZkBlockingWriteLock> contention;
  private final LockAdapter adapter = new LockAdapter(this);

  /**
   * Creates a foreground lock.
   *
   * @param lockInfo the purpose, a short text for people
   * @param zooKeeper the client; must not be closed while the lock is in use
   * @param monitorObject the id of the monitor object: 1 to 255 bytes after encoding
   */
  public ZkBlockingWriteLock(String lockInfo, ZooKeeper zooKeeper, String monitorObject) {
    this(lockInfo, zooKeeper, monitorObject, LockType.FOREGROUND);
  }

  /**
   * Creates a lock of either class.
   *
   * @param lockInfo the purpose, a short text for people
   * @param zooKeeper the client; must not be closed while the lock is in use
   * @param monitorObject the id of the monitor object: 1 to 255 bytes after encoding
   * @param lockType the class in which it contends
   */
  public ZkBlockingWriteLock(String lockInfo, ZooKeeper zooKeeper, String monitorObject, LockType lockType) {
    this(lockInfo, zooKeeper, monitorObject, lockType, LockOptions.NONE);
  }

  /**
   * Creates a lock of either class, with options.
   *
   * @param lockInfo the purpose, a short text for people
   * @param zooKeeper the client; must not be closed while the lock is in use
   * @param monitorObject the id of the monitor object: 1 to 255 bytes after encoding
   * @param lockType the class in which it contends
   * @param options further options
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
   *     without naming the holder, which would block; by the client's executor
   *     ({@link ForelockClient.Builder#executor}). Cancelling it, or completing it in another way, as {@code orTimeout}
   *     does, cancels the acquisition; doing so with a dependent stage does not: the lock may be held afterwards
   */
  public CompletableFuture<ZkBlockingWriteLock> acquireAsync() {
    return contention.acquireAsync(Native.CONFIGURED, false, null);
  }

  /**
   * The same with its own time-out.
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
   * @param executor completes the result, and so runs its dependents. If it runs tasks at once ({@code Runnable::run}),
   *     or refuses them, by whatever exception, they run on the thread that fetches the client's events. They must then
   *     neither block nor take long: meanwhile all other waiting calls of the client keep waiting. On that thread, a
   *     wait for a lock does not end by an interruption; {@link OperationRunner#run} is refused; and waiting for a
   *     future of this client never ends. A lock that has lingered is held at once: then they run on the calling thread
   * @return as {@link #acquireAsync()}
   */
  public CompletableFuture<ZkBlockingWriteLock> acquireAsync(Duration timeout, Executor executor) {
    return contention.acquireAsync(Milliseconds.of(timeout), false, Objects.requireNonNull(executor));
  }

  /**
   * Begins a single attempt and returns at once: the lock is obtained if it is free and no contender waits; it does not
   * queue.
   *
   * @return as {@link #acquireAsync()}; completed exceptionally with {@link ErrorCode#LOCK_UNAVAILABLE} if the lock is
   *     held or waited for
   */
  public CompletableFuture<ZkBlockingWriteLock> tryLockAsync() {
    return contention.acquireAsync(Native.CONFIGURED, true, null);
  }

  /**
   * The same, completed by an executor as in {@link #acquireAsync(Duration, Executor)}.
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
   * Releases the lock: one round trip. Waits for the confirmation, at most about the session time-out. Afterwards the
   * lock is no longer held, whatever this throws. An interruption does not end it.
   *
   * @throws NoNodeException the lock did not exist any more, or is not held
   * @throws SessionExpiredException the session ended before
   * @throws ConnectionLossException there is no confirmation; the release continues in the background
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

  /** Cancels or releases it without waiting, and frees its resources. Idempotent; other methods throw then. */
  @Override
  public void close() {
    super.close();
    adapter.ended(adapter.ends());
  }

  // --- state of a held lock ---

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
   * Sets the callback for losses: called once for each grant that is lost. Set it, as all callbacks, while the lock is
   * free: they run on one thread of the client and should be short. A lock to which its own callback refers is freed by
   * {@link #close()} alone, not by the garbage collector.
   *
   * @param callback gets the reason
   */
  public void onLost(Consumer<LossReason> callback) {
    Objects.requireNonNull(callback);
    handle.watch(Native.ON_LOST, 0, event -> callback.accept(LossReason.of(event.value)));
  }

  /**
   * Sets the callback for the place in the queue: called when it becomes known, and when it changes.
   *
   * @param callback gets the place
   */
  public void onQueued(Consumer<QueuePosition> callback) {
    Objects.requireNonNull(callback);
    handle.watch(Native.ON_QUEUED, 0, event -> callback.accept(new QueuePosition(event)));
  }

  /**
   * Sets the callback for contention: called when another client waits behind this holder, once for each class and
   * grant.
   *
   * @param callback gets the class
   */
  public void onContended(Consumer<LockType> callback) {
    Objects.requireNonNull(callback);
    handle.watch(Native.ON_CONTENDED, 0, event -> callback.accept(LockType.of(event.value)));
  }

  /**
   * This lock as a {@code java.util.concurrent} lock, for threads that share it: one of them at a time, in the order of
   * arrival, contends with the other clients of the monitor or holds the lock. Not re-entrant: a thread that holds it
   * and calls {@code lock()} waits for ever. {@code unlock()} may be called by any thread; {@link #unlock()},
   * {@link #unlockAsync()} and {@link #close()} let the next thread in, too. A thread that waits for another thread of
   * this object is not cancelled by {@link #cancel()}, and is not seen by other clients. Conditions are not supported.
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
