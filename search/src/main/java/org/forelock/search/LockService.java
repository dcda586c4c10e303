package org.forelock.search;

import java.security.AccessController;
import java.security.PrivilegedAction;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.forelock.ClientStatus;
import org.forelock.ForelockClient;
import org.forelock.Inspector;
import org.forelock.LockOptions;
import org.forelock.LockSet;
import org.forelock.LockType;
import org.forelock.ZkBlockingWriteLock;

/** A LockService is the node's one session with ZooKeeper. Thread-safe. */
public final class LockService implements LockSource, AutoCloseable {
  /**
   * Runs on the thread that fetches the client's events, or that requests a lock that has lingered: the dependents only
   * request more locks, and find a thread or notify the requesting one.
   */
  private static final Executor AT_ONCE = Runnable::run;

  private final ForelockClient client;
  private final boolean lingers;

  /** Connects in the background. */
  public LockService(ForelockClient client, boolean lingers) {
    this.client = client;
    this.lingers = lingers;
  }

  @Override
  public DocumentLock lock(String info, List<String> monitors, LockType type, boolean fenced, boolean kept) {
    LockOptions options = LockOptions.NONE.mayLinger(!fenced).keepMonitor(kept);
    return monitors.size() == 1 ? new OneLock(new ZkBlockingWriteLock(info, client, monitors.get(0), type, options))
        : new OneSet(new LockSet(info, client, monitors, type, options));
  }

  @Override
  public boolean lingers() {
    return lingers;
  }

  public ClientStatus status() {
    return client.status();
  }

  /** The identity of the namespace; empty: there is no connection. Blocks. */
  public String identity() {
    return client.status().connected() ? client.inspector().identity() : "";
  }

  /** Its methods block. */
  public Inspector inspector() {
    return client.inspector();
  }

  /** Ends the session: the server frees all its locks before this returns, if it can be reached. */
  @Override
  public void close() {
    privileged(() -> {
      client.close();
      return null;
    });
  }

  /** Runs a call that needs permissions which only the plugin has: some nodes run under a security manager. */
  @SuppressWarnings("removal")
  public static <T> T privileged(Supplier<T> action) {
    return AccessController.doPrivileged((PrivilegedAction<T>) action::get);
  }

  private static final class OneLock implements DocumentLock {
    private final ZkBlockingWriteLock lock;

    OneLock(ZkBlockingWriteLock lock) {
      this.lock = lock;
    }

    @Override
    public CompletableFuture<?> acquire(long timeoutMillis) {
      return lock.acquireAsync(Duration.ofMillis(timeoutMillis), AT_ONCE);
    }

    @Override
    public CompletableFuture<?> tryAcquire() {
      return lock.tryLockAsync(AT_ONCE);
    }

    @Override
    public boolean prioritize(LockType type) {
      return lock.setPriority(type);
    }

    @Override
    public long nanosLeft() {
      return lock.timeLeft().toNanos();
    }

    @Override
    public long token() {
      return lock.fencingToken();
    }

    @Override
    public Map<String, Long> tokens() {
      return Map.of(lock.monitor(), lock.fencingToken());
    }

    @Override
    public String heldHeader() {
      return lock.heldHeader();
    }

    @Override
    public void close() {
      lock.close();
    }
  }

  private static final class OneSet implements DocumentLock {
    private final LockSet set;

    OneSet(LockSet set) {
      this.set = set;
    }

    @Override
    public CompletableFuture<?> acquire(long timeoutMillis) {
      return set.acquireAsync(Duration.ofMillis(timeoutMillis), AT_ONCE);
    }

    @Override
    public CompletableFuture<?> tryAcquire() {
      return set.tryLockAsync(AT_ONCE);
    }

    @Override
    public boolean prioritize(LockType type) {
      return set.setPriority(type);
    }

    @Override
    public long nanosLeft() {
      return set.timeLeft().toNanos();
    }

    @Override
    public long token() {
      return set.highestFencingToken();
    }

    @Override
    public Map<String, Long> tokens() {
      return set.fencingTokens();
    }

    @Override
    public String heldHeader() {
      return set.heldHeader();
    }

    @Override
    public void close() {
      set.close();
    }
  }
}
