package org.forelock;

import java.lang.ref.Cleaner;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.concurrent.Executor;
import java.util.function.Predicate;

/**
 * One ZooKeeper session, shared by all locks of a process. Thread-safe. It connects in the background: locks wait for
 * it within their own time-outs.
 *
 * <p>Close it: {@link #close} ends the session, and frees all its locks on the server before it returns.
 */
public final class ForelockClient extends ZooKeeper implements AutoCloseable {
  private static final String LOGGER_NAME = "org.forelock";
  private static Cleaner cleaner;

  private final ClientCore core;
  /** Null for a borrowed client, which another object closes. */
  private final Lifetime lifetime;
  private final Cleaner.Cleanable cleanable;
  /** The client that this one is borrowed from, which must not be garbage before it; null: none. */
  private final ForelockClient owner;

  /**
   * Opens a client with the settings of a {@code .properties} or {@code .yaml} file.
   *
   * @param file the file; keys that are not of this library are left alone
   * @throws ConfigurationException with every problem found
   */
  public ForelockClient(Path file) {
    this(Config.load(file), new Builder());
  }

  /**
   * Opens a client with these settings.
   *
   * @param properties the settings; keys that are not of this library are left alone
   * @throws ConfigurationException with every problem found
   */
  public ForelockClient(Properties properties) {
    this(Config.of(properties), new Builder());
  }

  private ForelockClient(Config config, Builder builder) {
    Cleaner forgotten;
    try (config) {
      forgotten = cleaner();
      System.Logger logger = builder.logger == null ? System.getLogger(LOGGER_NAME) : builder.logger;
      boolean lingers = !"0".equals(config.get("zookeeper.lock.linger"));
      boolean debug = logger.isLoggable(System.Logger.Level.DEBUG);
      int flags = Native.CLIENT_LOG_EVENTS | (debug ? Native.CLIENT_LOG_DEBUG : 0);
      long slowMs = Long.parseLong(config.get("zookeeper.session.timeout")) / 8;
      core = new ClientCore(
          Native.clientOpen(config.handle, flags), logger, lingers, slowMs, builder.executor,
          builder.neverWaiting, builder.machine);
    }
    owner = null;
    lifetime = new Lifetime(core);
    try {
      if (builder.patience != null) {
        lifetime.hook = new ShutdownHook(core, builder.patience, builder.machine);
      }
      cleanable = forgotten.register(this, lifetime);
    } catch (Throwable problem) {
      lifetime.end();
      throw problem;
    }
  }

  private ForelockClient(ForelockClient owner) {
    this.owner = owner;
    core = owner.core;
    lifetime = null;
    cleanable = null;
  }

  /** Created on first use: if no thread were available during initialisation, the class would be unusable for good. */
  static synchronized Cleaner cleaner() {
    if (cleaner == null) {
      cleaner = Cleaner.create();
    }
    return cleaner;
  }

  /**
   * A builder, for settings that the program makes.
   *
   * @return a builder with the defaults
   */
  public static Builder builder() {
    return new Builder();
  }

  /** Collects settings. */
  public static final class Builder {
    private final Map<String, String> values = new LinkedHashMap<>();
    private Path file;
    private System.Logger logger;
    private Executor executor;
    private Predicate<Thread> neverWaiting = thread -> false;
    private Duration patience;
    private Machine machine = new Machine();

    private Builder() {}

    /**
     * Begins with the settings of a file.
     *
     * @param path the file
     * @return this
     */
    public Builder file(Path path) {
      file = Objects.requireNonNull(path);
      return this;
    }

    /**
     * The servers, with the optional chroot.
     *
     * @param list host:port pairs, separated by commas
     * @return this
     */
    public Builder servers(String list) {
      return set("zookeeper.servers", list);
    }

    /**
     * Sets any key of the configuration. A secret that the program has from its own store, such as a vault, is set by
     * its file's key without {@code .file}, e.g. {@code zookeeper.sasl.password}: it stays in memory.
     *
     * @param key as in a file; an unknown one is an error
     * @param value as in a file
     * @return this
     */
    public Builder set(String key, String value) {
      values.put(Objects.requireNonNull(key), Objects.requireNonNull(value));
      return this;
    }

    /**
     * Sets the logger for the client's log lines; by default {@code System.getLogger("org.forelock")}. For hosts whose
     * own log is not behind that one. If it accepts level DEBUG now, it also receives the course of each lock: why it
     * waits, by which proof it is granted, why it is lost.
     *
     * @param target called by one thread of the client at a time; may take long
     * @return this
     */
    public Builder logger(System.Logger target) {
      logger = Objects.requireNonNull(target);
      return this;
    }

    /**
     * Sets the executor that completes the client's futures, and so runs their dependents, for calls without an
     * executor of their own. The default is daemon threads of the client, at most 64, which are created as they are
     * needed. Tasks that this one refuses, by whatever exception, run on the callback thread.
     *
     * @param target must outlive the client; one that runs a task at once ({@code Runnable::run}) has the limits that
     *     {@link ZkBlockingWriteLock#acquireAsync(Duration, Executor)} names
     * @return this
     */
    public Builder executor(Executor target) {
      executor = Objects.requireNonNull(target);
      return this;
    }

    /**
     * Sets which threads of a host must not wait, since they serve others. A call that would make one of them wait for
     * a lock, such as {@code lock()}, {@code tryLock()} or {@code run()}, throws {@link RequestRejectedException}
     * (INVALID_ARGUMENT), whose message names the thread. Unlocking is not refused.
     *
     * @param which called with the calling thread, each time; must be quick
     * @return this
     */
    public Builder neverWaiting(Predicate<Thread> which) {
      neverWaiting = Objects.requireNonNull(which);
      return this;
    }

    /**
     * Closes the client when the JVM ends in good order: by a signal such as SIGTERM, by {@code System.exit}, or with
     * its last thread. So its locks become free then, and not after the session's time-out. From that moment on every
     * new acquisition and operation is refused ({@link ErrorCode#CLOSED}). When no lock is held or waited for any more,
     * or the time is up, the client is closed: code that still works under a lock has lost it, as
     * {@link ZkBlockingWriteLock#onLost} and {@link ZkBlockingWriteLock#checkHealth} report.
     *
     * @param patience at most; less than the grace period after which the host's environment kills a process; zero:
     *     locks are freed while code still works under them. {@code System.exit} within a section waits for all of it
     * @return this
     */
    public Builder closeOnShutdown(Duration patience) {
      this.patience = Objects.requireNonNull(patience);
      return this;
    }

    /** For tests. */
    Builder machine(Machine other) {
      machine = other;
      return this;
    }

    /**
     * Opens the client.
     *
     * @return the client
     * @throws ConfigurationException with every problem found
     */
    public ForelockClient build() {
      return new ForelockClient((file == null ? Config.of(new Properties()) : Config.load(file)).set(values), this);
    }
  }

  ClientCore core() {
    return core;
  }

  /**
   * The version of the native library.
   *
   * @return "major.minor.patch"
   */
  public static String version() {
    return Failures.text(Native.version());
  }

  /**
   * Waits until a server has accepted the session.
   *
   * @param timeout at most; a negative one is as zero
   * @throws ConnectionLossException if none has by then; it says why
   */
  public void waitConnected(Duration timeout) {
    Blocking.run(() -> Native.clientWaitConnected(core.handle, Milliseconds.of(timeout)));
  }

  /**
   * The state of the client, and counts since it was opened.
   *
   * @return a snapshot
   */
  public ClientStatus status() {
    return ClientStatus.of(core);
  }

  /**
   * The waits for locks of a class, and their holds, since the client was opened. Each member of a lock set counts.
   *
   * @param type the class
   * @return a snapshot
   */
  public LockTimes times(LockType type) {
    return LockTimes.of(core, type);
  }

  /**
   * An inspector of the locks of the namespace.
   *
   * @return an object that is valid as long as the client
   */
  public Inspector inspector() {
    return new Inspector(this);
  }

  /**
   * The same client for code that must not close it, such as another plugin of a host. It ends with this one.
   *
   * @return an object with all methods of this one, whose {@link #close} is refused
   */
  public ForelockClient borrowed() {
    return new ForelockClient(owner == null ? this : owner);
  }

  /**
   * Ends the session: waiting acquisitions end with {@link ErrorCode#CLOSED}, held locks are lost, and the server frees
   * them before this returns. A concurrent call waits for that, too. Operations whose attempts are under way end with
   * these. Idempotent. Must not be called from a callback of a lock.
   *
   * @throws IllegalStateException if it is borrowed; it then stays open
   */
  @Override
  public void close() {
    if (lifetime == null) {
      throw new IllegalStateException("this client is borrowed: whoever has opened it closes it");
    }
    lifetime.close();
  }

  /** Closes the client when its object is garbage and was not closed; keeps the handle for its locks until then. */
  private static final class Lifetime implements Runnable {
    private final ClientCore core;
    private volatile boolean closed;
    private volatile ShutdownHook hook;

    Lifetime(ClientCore core) {
      this.core = core;
    }

    void close() {
      closed = true;
      if (hook != null) {
        hook.remove();
      }
      Blocking.run(core::close);
    }

    @Override
    public void run() {
      if (!closed) {
        core.log(System.Logger.Level.WARNING, "a ForelockClient was never closed; its session ends now");
      }
      try {
        Blocking.daemon(this::end, "forelock-close").start(); // other objects wait for the cleaner
      } catch (Throwable noThread) {
        end();
      }
    }

    private void end() {
      close();
      Native.clientFree(core.handle);
    }
  }
}
