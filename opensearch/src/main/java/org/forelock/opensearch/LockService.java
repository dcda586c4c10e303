package org.forelock.opensearch;

import java.security.AccessController;
import java.security.PrivilegedAction;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.forelock.ClientStatus;
import org.forelock.ForelockClient;
import org.forelock.Inspector;
import org.forelock.LockType;
import org.forelock.ZkBlockingWriteLock;

/** A LockService is the node's one session with ZooKeeper. Thread-safe. */
final class LockService implements LockSource, AutoCloseable {
  private final ForelockClient client;

  /** Connects in the background. */
  LockService(ForelockClient client) {
    this.client = client;
  }

  @Override
  public DocumentLock lock(String info, String monitor, LockType type) {
    return new OneLock(new ZkBlockingWriteLock(info, client, monitor, type));
  }

  ClientStatus status() {
    return client.status();
  }

  /** Its methods block. */
  Inspector inspector() {
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

  @SuppressWarnings("removal") // OpenSearch 2 runs under a security manager
  static <T> T privileged(Supplier<T> action) {
    return AccessController.doPrivileged((PrivilegedAction<T>) action::get);
  }

  private static final class OneLock implements DocumentLock {
    private final ZkBlockingWriteLock lock;

    OneLock(ZkBlockingWriteLock lock) {
      this.lock = lock;
    }

    @Override
    public CompletableFuture<?> acquire(long timeoutMillis) {
      return lock.acquireAsync(Duration.ofMillis(timeoutMillis));
    }

    @Override
    public CompletableFuture<?> attempt() {
      return lock.tryLockAsync();
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
    public void close() {
      lock.close();
    }
  }
}
