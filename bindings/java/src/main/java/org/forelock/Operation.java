package org.forelock;

import java.time.Duration;
import java.util.Objects;

/** Work to be done under a lock, retried when it fails for a passing reason, and never silently dropped. */
public final class Operation {
  final String type;
  final String monitor;
  final LockType lockType;
  final String id;
  final byte[] payload;
  final String lockInfo;
  final String traceparent;
  final long timeoutMs;

  private Operation(String type, String monitor, LockType lockType, String id, byte[] payload, String lockInfo,
      String traceparent, long timeoutMs) {
    this.type = Objects.requireNonNull(type, "type");
    this.monitor = Objects.requireNonNull(monitor, "monitor");
    this.lockType = Objects.requireNonNull(lockType, "lockType");
    this.id = Objects.requireNonNull(id, "id");
    this.payload = Objects.requireNonNull(payload, "payload").clone();
    this.lockInfo = Objects.requireNonNull(lockInfo, "lockInfo");
    this.traceparent = Objects.requireNonNull(traceparent, "traceparent");
    this.timeoutMs = timeoutMs;
  }

  /**
   * Creates an operation with a random id and without a payload.
   *
   * @param type the kind, e.g. "saveContent"
   * @param monitor the monitor object's id
   * @param lockType the class of its lock
   */
  public Operation(String type, String monitor, LockType lockType) {
    this(type, monitor, lockType, "", new byte[0], "", "", 0);
  }

  /**
   * Sets the idempotency key.
   *
   * @param key at most 128 bytes of printable ASCII
   * @return the operation with it
   */
  public Operation id(String key) {
    return new Operation(type, monitor, lockType, key, payload, lockInfo, traceparent, timeoutMs);
  }

  /**
   * Sets the payload.
   *
   * @param bytes at most 1 MiB; never logged
   * @return the operation with it
   */
  public Operation payload(byte[] bytes) {
    return new Operation(type, monitor, lockType, id, bytes, lockInfo, traceparent, timeoutMs);
  }

  /**
   * Sets the purpose of the lock.
   *
   * @param info a short text
   * @return the operation with it
   */
  public Operation lockInfo(String info) {
    return new Operation(type, monitor, lockType, id, payload, info, traceparent, timeoutMs);
  }

  /**
   * Sets the W3C trace context, which is passed through to the dead letter.
   *
   * @param context the traceparent
   * @return the operation with it
   */
  public Operation traceparent(String context) {
    return new Operation(type, monitor, lockType, id, payload, lockInfo, context, timeoutMs);
  }

  /**
   * Sets a time-out: after it no attempt begins, and none waits for its lock. An operation that has failed by then goes
   * to the dead-letter queue; one that could not be tried fails to the caller ({@link ErrorCode#LOCK_TIMEOUT}).
   *
   * @param time counted from the call that runs it; zero or less is the shortest
   * @return the operation with it
   */
  public Operation timeout(Duration time) {
    return new Operation(
        type, monitor, lockType, id, payload, lockInfo, traceparent, Math.max(1, Milliseconds.of(time)));
  }

  long[] numbers() {
    long[] numbers = new long[Layouts.OperationSpec.NUMBERS];
    numbers[Layouts.OperationSpec.PRIORITY] = lockType.ordinal();
    numbers[Layouts.OperationSpec.TIMEOUT_MS] = timeoutMs;
    return numbers;
  }

  byte[][] texts() {
    return new byte[][] {NativeLibrary.utf8(id), NativeLibrary.utf8(type), NativeLibrary.utf8(monitor),
        NativeLibrary.told(lockInfo), NativeLibrary.utf8(traceparent)};
  }
}
