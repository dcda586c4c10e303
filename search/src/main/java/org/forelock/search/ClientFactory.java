package org.forelock.search;

import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.forelock.DeadLetterQueue;
import org.forelock.ForelockClient;
import org.forelock.LockType;

/** Creates the client from the plugin's configuration file, the node's settings and its keystore. */
public final class ClientFactory {
  /** In the plugin's configuration folder. */
  public static final String FILE = "elasticsearch-details.properties";

  private static final long DEFAULT_TIMEOUT_MILLIS = 2000;
  private static final String DEFAULT_RETRIES = "3";
  private static final String LINGER = "zookeeper.lock.linger";
  /** Defaults below the file and the node's settings: most documents are written once, by many clients. */
  private static final Map<String, String> DEFAULTS =
      Map.of("zookeeper.lock.linger.reused", "true", "zookeeper.lock.release.delay", "2");
  private static final int MAX_FILE_BYTES = 1 << 20;
  /** In milliseconds; "ms" stands before "s" and "m". */
  private static final List<Map.Entry<String, Long>> UNITS = List.of(Map.entry("ms", 1L), Map.entry("s", 1000L),
      Map.entry("m", 60_000L), Map.entry("h", 3_600_000L), Map.entry("d", 86_400_000L));

  private final Path file;
  private final Map<String, String> overrides;
  private final Map<String, String> credentials;
  private final Map<String, String> secrets;

  /**
   * Reads nothing yet.
   *
   * @param settings the node's own for the lock, under the keys of the configuration; they go over the file's
   * @param credentials for ZooKeeper, by the key of their file without ".file", such as zookeeper.sasl.password: they
   *     stay in memory
   * @param secrets of Kafka, by key
   */
  public ClientFactory(
      Map<String, String> settings, Map<String, String> credentials, Map<String, String> secrets, Folders folders) {
    Path inFolder = folders.configuration.resolve("forelock").resolve(FILE);
    file = Files.isRegularFile(inFolder) ? inFolder : null;
    overrides = Map.copyOf(settings);
    this.credentials = Map.copyOf(credentials);
    this.secrets = Map.copyOf(secrets);
  }

  /**
   * Opens the client.
   *
   * @throws org.forelock.ConfigurationException with every problem of the settings
   */
  public ForelockClient open() {
    return LockService.privileged(this::build);
  }

  private ForelockClient build() {
    ForelockClient.Builder builder = ForelockClient.builder().logger(new NodeLog()).neverWaiting(NodeThreads::serves);
    if (file != null) {
      builder.file(file);
    }
    Map<String, String> settings = new LinkedHashMap<>(DEFAULTS);
    settings.keySet().removeAll(properties().keySet());
    settings.putAll(overrides);
    settings.putAll(credentials);
    settings.forEach(builder::set);
    return builder.build();
  }

  /**
   * Opens the dead-letter queue of the configuration, with its outbox among the node's own data.
   *
   * @throws org.forelock.ForelockException if that is not possible
   */
  public DeadLetterQueue openQueue(Path data) {
    Properties properties = properties();
    properties.setProperty("dlq.outbox.path", data.resolve("forelock").resolve("outbox.db").toString());
    return LockService.privileged(() -> new DeadLetterQueue(properties, secrets));
  }

  /** The configured number of retries of an operation. */
  public int retries() {
    return Integer.parseInt(properties().getProperty("elastic.request.retry.count", DEFAULT_RETRIES).trim());
  }

  /** Whether the configuration lets locks linger. */
  public boolean lingers() {
    String value = overrides.getOrDefault(LINGER, properties().getProperty(LINGER, "0"));
    return millis(value.trim()) > 0;
  }

  /** The configured time-out of a class. */
  public long timeoutMillis(LockType type) {
    String[] keys = type == LockType.FOREGROUND
        ? new String[] {"zookeeper.foregound.task.timeout", "zookeeper.foreground.task.timeout"}
        : new String[] {"zookeeper.backgound.task.timeout", "zookeeper.background.task.timeout"};
    // Whichever spelling the node's settings have, they go over the file's.
    for (Map<?, ?> place : List.of(overrides, properties())) {
      for (String key : keys) {
        Object value = place.get(key);
        if (value != null) {
          return millis(((String) value).trim());
        }
      }
    }
    return DEFAULT_TIMEOUT_MILLIS;
  }

  private Properties properties() {
    Properties properties = new Properties();
    if (file == null) {
      return properties;
    }
    try {
      if (Files.size(file) > MAX_FILE_BYTES) {
        throw new IllegalArgumentException(file + ": more than " + MAX_FILE_BYTES + " bytes");
      }
      try (Reader reader = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
        properties.load(reader);
      }
      return properties;
    } catch (IOException problem) {
      throw new UncheckedIOException(file + " cannot be read", problem);
    }
  }

  /** As the library reads it, which has checked the value when it was opened. */
  private static long millis(String value) {
    for (Map.Entry<String, Long> unit : UNITS) {
      if (value.endsWith(unit.getKey())) {
        String number = value.substring(0, value.length() - unit.getKey().length());
        return new BigDecimal(number).multiply(BigDecimal.valueOf(unit.getValue())).longValue();
      }
    }
    return Long.parseLong(value);
  }
}
