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
 * One ZooKeeper session, shared by all locks of a process. Thread-safe. Connecting happens in the background: locks
 * wait for it within their own time-outs.
 *
 * <p>Close it: that ends the session, and frees all its locks on the server before it returns.
 */
public final class ForelockClient extends ZooKeeper implements AutoCloseable {
  private static final String LOGGER_NAME = "org.forelock";
  private static Cleaner cleaner;

  private final ClientCore core;
  /** Null: another object ends it. */
  private final Lifetime lifetime;
  private final Cleaner.Cleanable cleanable;
  /** Kept as long as somebody has this one, which it ends; null: it ends itself. */
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

  /** Not made with the class: a thread that cannot be had then would be the end of the class. */
  static synchronized Cleaner cleaner() {
    if (cleaner == null) {
      cleaner = Cleaner.create();
    }
    return cleaner;
  }

  /**
   * For settings that are made in the program.
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
     * Sets any key of the configuration. A secret that the program has from a place of its own, such as a vault, is
     * set by the key of its file without {@code .file}, as {@code zookeeper.sasl.password}: it stays in memory.
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
     * Where the client's log lines go; to {@code System.getLogger("org.forelock")} if nothing is said. For hosts whose
     * own log is not behind that one. If it takes lines at level DEBUG now, it is told the course of each lock: why it
     * waits, by which proof it is granted, why it is lost.
     *
     * @param target is called by one thread of the client at a time, and may take its time
     * @return this
     */
    public Builder logger(System.Logger target) {
      logger = Objects.requireNonNull(target);
      return this;
    }

    /**
     * Completes the client's futures, and so runs what depends on them, for calls that are given no executor of their
     * own. Without a word about it, daemon threads of the client do, which are made as they are needed, at most 64 of
     * them. What this one refuses, by whatever exception, the thread that runs callbacks does.
     *
     * @param target must outlive the client; one that does its work at once ({@code Runnable::run}) has the limits that
     *     {@link ZkBlockingWriteLock#acquireAsync(Duration, Executor)} names
     * @return this
     */
    public Builder executor(Executor target) {
      executor = Objects.requireNonNull(target);
      return this;
    }

    /**
     * Names the threads of a host that must not wait, since they serve others: what would make one of them wait for a
     * lock, as {@code lock()}, {@code tryLock()} and {@code run()} do, is refused with
     * {@link RequestRejectedException} (INVALID_ARGUMENT), and the message names the thread. To unlock is not refused.
     *
     * @param which is asked for the thread that calls, each time; must be quick
     * @return this
     */
    public Builder neverWaiting(Predicate<Thread> which) {
      neverWaiting = Objects.requireNonNull(which);
      return this;
    }

    /**
     * Closes the client when the JVM ends in good order: by a signal such as SIGTERM, by {@code System.exit}, or with
     * its last thread. So its locks are free then, and not when the session's time-out has passed. From that moment on
     * every new acquisition and operation is refused ({@link ErrorCode#CLOSED}). When no lock is held or waited for any
     * more, or the time is up, the client is closed: code that still works under a lock has lost it, as
     * {@link ZkBlockingWriteLock#onLost} and {@link ZkBlockingWriteLock#checkHealth} tell it.
     *
     * @param patience at most, less than what the host's environment waits before it kills a process; zero: locks are
     *     freed under the code that works. {@code System.exit} within a section waits for all of it
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
     * @return it
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
   * Where the client stands, and counts since it was opened.
   *
   * @return a snapshot
   */
  public ClientStatus status() {
    return ClientStatus.of(core);
  }

  /**
   * How long the locks of a class were waited for and held since the client was opened. Each member of a lock set
   * counts.
   *
   * @param type the class
   * @return a snapshot
   */
  public LockTimes times(LockType type) {
    return LockTimes.of(core, type);
  }

  /**
   * A look at the locks of the namespace.
   *
   * @return an inspector, which lives as long as the client
   */
  public Inspector inspector() {
    return new Inspector(this);
  }

  /**
   * The same client for code that must not end it, as that of another plugin of a host. It ends with this one.
   *
   * @return an object that has all of this one, but that {@link #close} is refused
   */
  public ForelockClient borrowed() {
    return new ForelockClient(owner == null ? this : owner);
  }

  /**
   * Ends the session: waiting acquisitions end with {@link ErrorCode#CLOSED}, held locks are lost, and the server frees
   * them before this returns. A thread that calls it meanwhile waits for that, too. Operations whose attempts are under
   * way end when those do. Idempotent. Not from a callback of a lock.
   *
   * @throws IllegalStateException if it is borrowed; nothing has happened then
   */
  @Override
  public void close() {
    if (lifetime == null) {
      throw new IllegalStateException("this client is borrowed: whoever has opened it closes it");
    }
    lifetime.close();
  }

  /** Ends with the object, if the application has not ended it; the handle itself is kept for its locks until then. */
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
