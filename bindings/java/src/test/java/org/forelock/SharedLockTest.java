package org.forelock;

import static org.forelock.Outcomes.*;
import static org.junit.jupiter.api.Assertions.*;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** One lock object that several threads use. */
class SharedLockTest {
  private static final Duration MINUTE = Duration.ofMinutes(1);
  @RegisterExtension
  static final TestServer.OfClass server = new TestServer.OfClass();
  private final String monitor = "shared-" + UUID.randomUUID();

  private static void awaitWaiting(Thread thread) {
    while (thread.getState() != Thread.State.WAITING) {
      assertTrue(thread.isAlive());
      Thread.onSpinWait();
    }
  }

  @Test
  void theThreadThatFetchesTheEventsDoesNotWaitForTheTurn() throws Exception {
    try (ForelockClient client = server.client(); ForelockClient another = server.client();
        ZkBlockingWriteLock shared = new ZkBlockingWriteLock("case", client, monitor);
        ZkBlockingWriteLock later = new ZkBlockingWriteLock("case", client, monitor + "-later");
        ZkBlockingWriteLock first = new ZkBlockingWriteLock("case", another, monitor + "-later")) {
      Lock lock = shared.asLock();
      lock.lock();
      first.lock();
      CompletableFuture<ErrorCode> refused = later.acquireAsync(Duration.ofSeconds(30), Runnable::run)
          .thenApply(held -> assertThrows(RequestRejectedException.class, lock::lock).code());
      first.unlock();
      assertEquals(ErrorCode.ALREADY_HELD, soon(refused));
    }
  }

  @Test
  void threadsThatShareAnAdapterWaitForOneAnother() throws Exception {
    try (ForelockClient client = server.client();
        ZkBlockingWriteLock shared = new ZkBlockingWriteLock("case", client, monitor)) {
      Lock lock = shared.asLock();
      lock.lock();
      CompletableFuture<Boolean> once = new CompletableFuture<>();
      CompletableFuture<Boolean> shortly = new CompletableFuture<>();
      CompletableFuture<Long> token = new CompletableFuture<>();
      Thread thread = new Thread(() -> {
        once.complete(lock.tryLock());
        try {
          shortly.complete(lock.tryLock(1, TimeUnit.MILLISECONDS));
        } catch (InterruptedException problem) {
          shortly.completeExceptionally(problem);
        }
        lock.lock();
        token.complete(shared.fencingToken());
        lock.unlock();
      });
      thread.start();
      assertFalse(soon(once));
      assertFalse(soon(shortly));
      awaitWaiting(thread);
      long first = shared.fencingToken();
      assertTrue(shared.isHealthy());
      lock.unlock();
      assertTrue(soon(token) > first);
      thread.join();
      assertTrue(lock.tryLock(1, TimeUnit.MINUTES));
      lock.unlock();
      assertSame(lock, shared.asLock());
    }
  }

  @Test
  void anAdapterIsFreeAfterWhatFailed() throws Exception {
    try (ForelockClient client = server.client();
        ZkBlockingWriteLock holder = new ZkBlockingWriteLock("holder", client, monitor);
        ZkBlockingWriteLock shared = new ZkBlockingWriteLock("case", client, monitor)) {
      Lock lock = shared.asLock();
      holder.lock();
      assertFalse(lock.tryLock());
      assertFalse(lock.tryLock(1, TimeUnit.MILLISECONDS));
      Thread.currentThread().interrupt();
      assertThrows(InterruptedException.class, lock::lockInterruptibly);
      assertThrows(NoNodeException.class, lock::unlock);
      holder.unlock();
      lock.lock();
      // Lost for its adapter, whose unlock() says so.
      Inspector inspector = client.inspector();
      CompletableFuture<LossReason> lost = new CompletableFuture<>();
      lock.unlock();
      shared.onLost(lost::complete);
      lock.lock();
      inspector.forceRelease(monitor, inspector.show(monitor).orElseThrow().holderNode());
      soon(lost);
      assertThrows(NoNodeException.class, lock::unlock);
      lock.lock();
      lock.unlock();
      assertThrows(NoNodeException.class, lock::unlock);
      lock.lock();
      assertFalse(lock.tryLock());
      lock.unlock();
    }
  }

  @Test
  void cancellingAnAcquisitionThatHasEndedLeavesALaterOneAlone() throws Exception {
    try (ForelockClient client = server.client();
        ZkBlockingWriteLock holder = new ZkBlockingWriteLock("holder", client, monitor);
        ZkBlockingWriteLock shared = new ZkBlockingWriteLock("case", client, monitor)) {
      holder.lock();
      CompletableFuture<Runnable> completion = new CompletableFuture<>();
      CompletableFuture<ZkBlockingWriteLock> first = shared.acquireAsync(Duration.ofMillis(30), completion::complete);
      Runnable late = soon(completion);
      CompletableFuture<ZkBlockingWriteLock> second = shared.acquireAsync(MINUTE);
      assertTrue(first.cancel(true));
      late.run();
      holder.unlock();
      assertSame(shared, soon(second));
      shared.unlock();
    }
  }

  @Test
  void aCancelledAcquisitionGivesWay() throws Exception {
    try (ForelockClient client = server.client();
        ZkBlockingWriteLock holder = new ZkBlockingWriteLock("holder", client, monitor);
        ZkBlockingWriteLock shared = new ZkBlockingWriteLock("case", client, monitor)) {
      holder.lock();
      CompletableFuture<ZkBlockingWriteLock> first = shared.acquireAsync(MINUTE);
      assertThrows(RequestRejectedException.class, () -> shared.acquireAsync(MINUTE));
      assertTrue(first.cancel(true));
      while (shared.state() == LockState.WAITING) {
        Thread.onSpinWait();
      }
      CompletableFuture<ZkBlockingWriteLock> second = shared.acquireAsync(Duration.ofMillis(30));
      ExecutionException refused = assertThrows(ExecutionException.class, () -> soon(second));
      assertEquals(ErrorCode.LOCK_TIMEOUT, ((ForelockException) refused.getCause()).code());
    }
  }
}
