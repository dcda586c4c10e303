package org.forelock;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * A queue for operations that have used up their retries: a durable outbox on this machine ({@code dlq.outbox.path})
 * and, where {@code kafka.bootstrap.servers} is set, its topic. Needs Kafka's client (librdkafka) on the machine.
 */
public final class DeadLetterQueue implements AutoCloseable {
  final long handle;

  /**
   * Opens the queue of a configuration file.
   *
   * @param file as for {@link ForelockClient}
   * @throws RequestRejectedException if the outbox cannot be opened
   */
  public DeadLetterQueue(Path file) {
    this(checked(() -> Config.load(file)));
  }

  /**
   * Opens the queue of these settings.
   *
   * @param properties as for {@link ForelockClient}
   * @throws RequestRejectedException if the outbox cannot be opened
   */
  public DeadLetterQueue(Properties properties) {
    this(checked(() -> Config.of(properties)));
  }

  /**
   * Opens the queue of these settings, with secrets that the program has from its own store, such as a vault. A secret
   * of Kafka among the properties is refused, since they may come from a file that others can read.
   *
   * @param properties as for {@link ForelockClient}
   * @param secrets by the names of their settings, such as {@code kafka.sasl.password}; they override the properties
   * @throws RequestRejectedException if the outbox cannot be opened
   */
  public DeadLetterQueue(Properties properties, Map<String, String> secrets) {
    this(checked(() -> Config.of(properties).set(secrets)));
  }

  private DeadLetterQueue(Config config) {
    try (config) {
      handle = Blocking.call(() -> Native.dlqOpen(config.handle));
    }
  }

  private static Config checked(java.util.function.Supplier<Config> config) {
    if (!Native.hasDeadLetters()) {
      throw NativeLibrary.withoutDeadLetters();
    }
    return config.get();
  }

  /**
   * Accepts an operation whose attempts were made without an {@link OperationRunner}. Blocks until it is durable.
   *
   * @param client names this process in the letter
   * @param operation the failed operation
   * @param attempts the failed ones, oldest first, at least one
   * @param maxAttempts the largest number that was allowed
   * @return the letter's id
   * @throws RequestRejectedException it is in no queue: the outbox is full or unavailable, the operation is invalid or
   *     too large
   */
  public String accept(ForelockClient client, Operation operation, List<FailedAttempt> attempts, int maxAttempts) {
    byte[][] texts = new byte[2 * attempts.size()][];
    long[] times = new long[2 * attempts.size()];
    for (int i = 0; i < attempts.size(); ++i) {
      FailedAttempt attempt = attempts.get(i);
      texts[2 * i] = NativeLibrary.utf8(attempt.code());
      texts[2 * i + 1] = NativeLibrary.told(attempt.message());
      times[2 * i] = attempt.at().toEpochMilli();
      times[2 * i + 1] = Milliseconds.of(attempt.waited());
    }
    return Failures.text(Blocking.call(() -> Native.dlqAccept(client.core().handle, handle, operation.numbers(),
        operation.texts(), operation.payload, times, texts, maxAttempts)));
  }

  /**
   * Waits until every letter in the outbox is forwarded.
   *
   * @param timeout at most; a negative one is as zero
   * @return whether the outbox is empty of letters to forward
   */
  public boolean flush(Duration timeout) {
    return Blocking.call(() -> Native.dlqFlush(handle, Milliseconds.of(timeout)));
  }

  /**
   * Letters in the outbox.
   *
   * @return their number
   */
  public long outboxRows() {
    return status().outboxRows();
  }

  /**
   * Letters that this object has accepted.
   *
   * @return their number
   */
  public long accepted() {
    return status().accepted();
  }

  /**
   * Letters that this object has delivered to Kafka.
   *
   * @return their number
   */
  public long delivered() {
    return status().delivered();
  }

  /**
   * The outbox's contents, and counts of letters accepted and delivered.
   *
   * @return a snapshot
   */
  public DeadLetterStatus status() {
    long[] numbers = new long[Layouts.DlqStatus.NUMBERS];
    byte[][] texts = new byte[Layouts.DlqStatus.TEXTS][];
    Blocking.run(() -> Native.dlqGetStatus(handle, numbers, texts));
    return new DeadLetterStatus(numbers, Failures.text(texts[Layouts.DlqStatus.LAST_PROBLEM]));
  }

  /**
   * Replays all letters of the queue: see {@link #replay(ForelockClient, ReplayOptions, ReplayHandler)}.
   *
   * @param client takes the locks
   * @param handler does the work of one letter
   * @return counts of the letters' outcomes, and the letters that are not done
   */
  public ReplayReport replay(ForelockClient client, ReplayHandler handler) {
    return replay(client, ReplayOptions.DEFAULT, handler);
  }

  /**
   * Replays letters of the queue: passes each to the handler, under its monitor's lock at background priority, in the
   * order of their failures. The queue is the Kafka topic where one is configured, else the outbox. One replay at a
   * time over all processes and machines, {@code forelock dlq replay} included.
   *
   * <p>This thread calls the handler, for one letter after the other. When it returns, and the lock was certain to be
   * held until then, the letter is done and leaves the queue. A letter that is not done keeps the later ones of its
   * monitor, and no others, waiting for the next replay; one that has failed {@link ReplayOptions#maxTries} times is
   * parked. At least once: the handler may be called again for a letter that it has done, if the lock was lost or the
   * process ended before that was recorded.
   *
   * <p>After an interruption the current letter is finished and no other begins; the report is returned all the same.
   * So it is when a handler closes the client, whose locks are lost then.
   *
   * @param client takes the locks
   * @param options the choice of letters, and limits
   * @param handler does the work of one letter
   * @return counts of the letters' outcomes, and the letters that are not done
   * @throws InstanceLockException (LOCK_TIMEOUT) another replay or change of the queue runs; the message names it
   * @throws RequestRejectedException the queue cannot be read or changed, the client is closed, an option is invalid;
   *     letters done by then stay done. (INVALID_ARGUMENT) if this is the thread that fetches the client's events
   */
  public ReplayReport replay(ForelockClient client, ReplayOptions options, ReplayHandler handler) {
    Objects.requireNonNull(handler, "handler");
    return Replay.run(client.core(), this, options, handler);
  }

  /**
   * As {@link #replay(ForelockClient, ReplayOptions, ReplayHandler)}, without blocking. When the future is cancelled,
   * letters under way are finished and no others begin.
   *
   * @param client takes the locks
   * @param options the choice of letters, and limits
   * @param executor calls the handler, for up to {@link ReplayOptions#concurrency} letters at once. It needs threads of
   *     its own: one that runs a task at once ({@code Runnable::run}) runs it on the thread that fetches the client's
   *     events. A letter whose task it refuses is put off
   * @param handler does the work of one letter, and returns when it is done
   * @return counts of the letters' outcomes, and the letters that are not done
   */
  public CompletableFuture<ReplayReport> replayAsync(
      ForelockClient client, ReplayOptions options, Executor executor, ReplayHandler handler) {
    Objects.requireNonNull(executor, "executor");
    Objects.requireNonNull(handler, "handler");
    return Replay.begin(client.core(), this, options, executor, handler);
  }

  /**
   * The expected outcome of a replay with these options. Reads the queue, and changes nothing.
   *
   * @param options the choice of letters
   * @return a snapshot
   * @throws RequestRejectedException the queue cannot be read
   */
  public ReplayPreview previewReplay(ReplayOptions options) {
    long[] result = new long[Layouts.ReplayPreview.NUMBERS];
    Blocking.run(() -> Native.dlqPreviewReplay(handle, options.numbers, options.texts, result));
    return new ReplayPreview(result);
  }

  /** Frees the object; the queue is closed when the last runner or replay that uses it has ended. Idempotent. */
  @Override
  public void close() {
    Blocking.run(() -> Native.dlqFree(handle));
  }
}
