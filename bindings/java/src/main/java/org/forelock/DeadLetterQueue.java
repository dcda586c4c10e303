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
 * Where operations go that ran out of retries: a durable outbox on this machine ({@code dlq.outbox.path}) and, where
 * {@code kafka.bootstrap.servers} is set, its topic. Needs Kafka's client (librdkafka) on the machine.
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
   * Opens the queue of these settings, with secrets that the program has from a place of its own, such as a vault.
   * Among the properties a secret of Kafka is refused, as they may come from a file that others can read.
   *
   * @param properties as for {@link ForelockClient}
   * @param secrets by the names of their settings, such as {@code kafka.sasl.password}; they go over the properties
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
   * Takes an operation whose attempts were made without an {@link OperationRunner}. Blocks until it is durable.
   *
   * @param client names this process in the letter
   * @param operation what was to be done
   * @param attempts those that failed, oldest first, at least one
   * @param maxAttempts how many there could have been
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
   * Waits until nothing in the outbox is left to be forwarded.
   *
   * @param timeout at most; a negative one is as zero
   * @return whether that is so
   */
  public boolean flush(Duration timeout) {
    return Blocking.call(() -> Native.dlqFlush(handle, Milliseconds.of(timeout)));
  }

  /**
   * How many letters are in the outbox.
   *
   * @return their number
   */
  public long outboxRows() {
    return status().outboxRows();
  }

  /**
   * How many letters this object has taken.
   *
   * @return their number
   */
  public long accepted() {
    return status().accepted();
  }

  /**
   * How many letters this object has delivered to Kafka.
   *
   * @return their number
   */
  public long delivered() {
    return status().delivered();
  }

  /**
   * What is in the outbox, and what became of the rest.
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
   * Puts all letters of the queue through the handler: see {@link #replay(ForelockClient, ReplayOptions,
   * ReplayHandler)}.
   *
   * @param client whose locks are taken
   * @param handler does the work of one letter
   * @return what became of them
   */
  public ReplayReport replay(ForelockClient client, ReplayHandler handler) {
    return replay(client, ReplayOptions.DEFAULT, handler);
  }

  /**
   * Puts letters of the queue through the handler, each under its monitor's lock at background priority, in the order
   * in which they failed. The queue is the Kafka topic where that is configured, else the outbox. One replay at a time
   * over all processes and machines, that of {@code forelock dlq replay} included.
   *
   * <p>The handler is called by this thread, for one letter after the other. When it returns, and the lock was certain
   * to be held until then, the letter is done and leaves the queue. One that is not done keeps the later ones of its
   * monitor waiting for the next replay, and no others; one that has failed {@link ReplayOptions#maxTries} times is
   * parked. At least once: the handler may be called again for a letter that it has done, if the lock was lost or the
   * process ended before that was recorded.
   *
   * <p>An interruption lets the letter that is worked on come to its end, and no other begin; the report comes all the
   * same. It does, too, when a handler closes the client, whose locks are lost then.
   *
   * @param client whose locks are taken
   * @param options which letters, and how
   * @param handler does the work of one letter
   * @return what became of them
   * @throws InstanceLockException (LOCK_TIMEOUT) another replay or change of the queue is at work; it is named
   * @throws RequestRejectedException the queue cannot be read or changed, the client is closed, an option is invalid;
   *     what was done by then stays done. (INVALID_ARGUMENT) if this is the thread that fetches the client's events
   */
  public ReplayReport replay(ForelockClient client, ReplayOptions options, ReplayHandler handler) {
    Objects.requireNonNull(handler, "handler");
    return Replay.run(client.core(), this, options, handler);
  }

  /**
   * As {@link #replay(ForelockClient, ReplayOptions, ReplayHandler)}, without blocking. Cancelling the future lets the
   * letters that are worked on come to their end, and no others begin.
   *
   * @param client whose locks are taken
   * @param options which letters, and how
   * @param executor calls the handler, for as many letters at once as {@link ReplayOptions#concurrency} says. It needs
   *     threads of its own: what it does at once ({@code Runnable::run}) is done by the thread that fetches the
   *     client's events. What it refuses is put off
   * @param handler does the work of one letter; has done it when it returns
   * @return what became of them
   */
  public CompletableFuture<ReplayReport> replayAsync(
      ForelockClient client, ReplayOptions options, Executor executor, ReplayHandler handler) {
    Objects.requireNonNull(executor, "executor");
    Objects.requireNonNull(handler, "handler");
    return Replay.begin(client.core(), this, options, executor, handler);
  }

  /**
   * What a replay with these options would do, as far as that is known before it is tried. Reads the queue, and changes
   * nothing.
   *
   * @param options which letters
   * @return a snapshot
   * @throws RequestRejectedException the queue cannot be read
   */
  public ReplayPreview previewReplay(ReplayOptions options) {
    long[] result = new long[Layouts.ReplayPreview.NUMBERS];
    Blocking.run(() -> Native.dlqPreviewReplay(handle, options.numbers, options.texts, result));
    return new ReplayPreview(result);
  }

  /** Frees it; it is closed when the last runner or replay that uses it has ended. Idempotent. */
  @Override
  public void close() {
    Blocking.run(() -> Native.dlqFree(handle));
  }
}
