package org.forelock;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;

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
    return Failures.text(Blocking.call(() -> Native.dlqAccept(client.core().handle, handle, operation.texts(),
        operation.payload, operation.lockType.ordinal(), texts, times, maxAttempts)));
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
    long[] numbers = new long[7];
    byte[] problem = Blocking.call(() -> Native.dlqStatus(handle, numbers));
    return new DeadLetterStatus(numbers, Failures.text(problem));
  }

  /** Frees it; it is closed when the last runner that uses it is closed. Idempotent. */
  @Override
  public void close() {
    Blocking.run(() -> Native.dlqFree(handle));
  }
}
