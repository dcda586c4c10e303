package org.forelock;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Consumer;

/** An attempt whose lock is held, as passed to a handler. Valid until the attempt has ended. */
public abstract class HeldAttempt {
  private static final byte[] HANDLER_FAILED = NativeLibrary.utf8("handler_failed");
  private static final byte[] NOTHING = {};

  final long handle;
  private final ClientCore core;
  private final String monitor;
  private volatile long listener;

  HeldAttempt(ClientCore core, String monitor, Event event) {
    this.core = core;
    this.monitor = monitor;
    this.handle = event.source;
  }

  /** False once it has ended, which it does with its runner or replay, even if its handler has not. */
  boolean isOpen() {
    return Native.lockGetState(handle) >= 0;
  }

  void succeed() {
    core.forget(listener);
    Native.attemptSucceed(handle);
  }

  /** Ends it as failed, even if a method of the application's exception throws. */
  void fail(Throwable problem) {
    core.forget(listener);
    byte[] code = HANDLER_FAILED;
    byte[] message = NOTHING;
    boolean retryable = false;
    try {
      if (problem instanceof OperationFailure) {
        OperationFailure failure = (OperationFailure) problem;
        message = text(failure.getMessage());
        code = text(failure.code());
        retryable = failure.retryable();
      } else if (problem instanceof ForelockException) {
        ForelockException failure = (ForelockException) problem;
        message = text(failure.getMessage());
        code = text(failure.code().name().toLowerCase(Locale.ROOT));
        retryable = failure.retryable();
      } else {
        message = text(problem.getClass().getName());
        message = text(problem.toString());
      }
    } catch (Throwable ofTheApplication) {
      core.log(System.Logger.Level.WARNING, "a failure of a handler cannot be described", ofTheApplication);
    }
    Native.attemptFail(handle, code, message, retryable);
  }

  private static byte[] text(String text) {
    return NativeLibrary.told(String.valueOf(text));
  }

  /**
   * Commits operations together with a check that the lock is still held.
   *
   * @param operations the operations to commit
   * @return the new data version for each
   */
  public int[] writeGuarded(List<WriteOperation> operations) {
    return GuardedWrite.commit(handle, operations);
  }

  /** Returns if the lock is certain to be held now; throws {@link LockUnhealthyException} otherwise. */
  public void checkHealth() {
    Native.lockCheckHealth(handle);
  }

  /**
   * Whether the lock is certain to be held now.
   *
   * @return false after the end of the attempt
   */
  public boolean isHealthy() {
    return Native.lockIsHealthy(handle);
  }

  /**
   * The fencing token of the lock.
   *
   * @return 0 after the end of the attempt
   */
  public long fencingToken() {
    return Native.lockToken(handle);
  }

  /**
   * The time until which the lock is certain to live on the servers.
   *
   * @return on the clock of {@link System#nanoTime()}; 0 after the end of the attempt
   */
  public long expiresAtNanos() {
    return Native.lockExpiresAtNs(handle);
  }

  /**
   * The time for which the lock is certain from now on.
   *
   * @return zero if it is not healthy
   */
  public Duration timeLeft() {
    return Duration.ofNanos(Native.lockTimeLeftNs(handle));
  }

  /**
   * Reports that the work continues as planned.
   *
   * @param expected the time that it needs from now on; a negative one counts as zero
   * @throws LockUnhealthyException if the lock is not healthy
   */
  public void alive(Duration expected) {
    Native.lockAlive(handle, Milliseconds.of(expected));
  }

  /**
   * The owner record of the lock.
   *
   * @return as last written, or as it would be
   */
  public OwnerRecord owner() {
    return OwnerRecord.of(handle);
  }

  /**
   * Sets the callback for the loss of the lock during the attempt. Set it once, before the work begins: an earlier loss
   * is not reported. It runs as a callback of {@link ZkBlockingWriteLock#onLost}.
   *
   * @param callback gets the reason
   */
  public void onLost(Consumer<LossReason> callback) {
    Objects.requireNonNull(callback);
    long tag = core.listen(event -> core.call(
        "onLost of the lock on " + monitor, () -> callback.accept(LossReason.of(event.value))));
    try {
      Native.lockWatch(handle, Native.ON_LOST, 0, tag);
    } catch (RuntimeException problem) {
      core.forget(tag);
      throw problem;
    }
    core.forget(listener);
    listener = tag;
  }
}
