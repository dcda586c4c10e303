package org.forelock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;

/** Whichever way an application loses interest in an acquisition: nothing of it stays, in the queue or held. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CancelTest {
  private static final Duration HOUR = Duration.ofHours(1);
  private static TestServer server;
  private String monitor;

  @BeforeAll
  static void start() {
    server = new TestServer();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @BeforeEach
  void name(TestInfo test) {
    monitor = test.getDisplayName();
  }

  private ZkBlockingWriteLock lock(ForelockClient client) {
    return new ZkBlockingWriteLock("cancel", client, monitor, LockType.BACKGROUND);
  }

  private static <T> T soon(CompletableFuture<T> future) throws Exception {
    return future.get(30, TimeUnit.SECONDS);
  }

  /** Nothing announces it. */
  private static void awaitFree(Supplier<LockState> state) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (state.get() != LockState.FREE) {
      assertTrue(System.nanoTime() < end, "the lock is " + state.get());
      Thread.onSpinWait();
    }
  }

  @Test
  void aTimeOutOfTheFutureWithdraws() throws Exception {
    try (ForelockClient client = server.client(); ZkBlockingWriteLock holder = lock(client);
        ZkBlockingWriteLock waiter = lock(client)) {
      holder.lock();
      ExecutionException end = assertThrows(ExecutionException.class,
          () -> soon(waiter.acquireAsync(HOUR).orTimeout(1, TimeUnit.MILLISECONDS)));
      assertTrue(end.getCause() instanceof TimeoutException);
      awaitFree(waiter::state);
      assertNull(soon(waiter.acquireAsync(HOUR).completeOnTimeout(null, 1, TimeUnit.MILLISECONDS)));
      awaitFree(waiter::state);
      assertTrue(holder.isHealthy());
    }
  }

  @Test
  void aStageThatDependsOnItWithdrawsNothing() throws Exception {
    try (ForelockClient client = server.client(); ZkBlockingWriteLock holder = lock(client);
        ZkBlockingWriteLock waiter = lock(client)) {
      holder.lock();
      CompletableFuture<ZkBlockingWriteLock> waiting = waiter.acquireAsync(HOUR);
      assertTrue(waiting.thenApply(lock -> lock).cancel(true));
      holder.unlock();
      assertSame(waiter, soon(waiting));
      assertTrue(waiter.isHealthy());
    }
  }

  @Test
  void whatIsGrantedBeforeItIsCancelledIsGivenBack() throws Exception {
    CompletableFuture<Runnable> given = new CompletableFuture<>();
    try (ForelockClient client = server.client(); ZkBlockingWriteLock lock = lock(client);
        ZkBlockingWriteLock next = lock(client)) {
      CompletableFuture<ZkBlockingWriteLock> future = lock.acquireAsync(HOUR, given::complete);
      Runnable completion = soon(given); // it is held, and nobody has been told
      assertTrue(future.cancel(true));
      completion.run();
      assertSame(next, soon(next.acquireAsync(HOUR)));
      assertFalse(lock.isHealthy());
    }
  }

  @Test
  void aFutureThatIsDoneCancelsNothing() throws Exception {
    try (ForelockClient client = server.client(); ZkBlockingWriteLock lock = lock(client)) {
      CompletableFuture<ZkBlockingWriteLock> future = lock.acquireAsync(HOUR);
      soon(future);
      assertFalse(future.cancel(true));
      assertFalse(future.completeExceptionally(new TimeoutException()));
      assertFalse(lock.cancel());
      lock.checkHealth();
    }
  }

  @Test
  void anOldFutureDoesNotCancelALaterAcquisition() throws Exception {
    try (ForelockClient client = server.client(); ZkBlockingWriteLock holder = lock(client);
        ZkBlockingWriteLock waiter = lock(client)) {
      holder.lock();
      CompletableFuture<ZkBlockingWriteLock> first = waiter.acquireAsync(HOUR);
      assertTrue(first.cancel(true));
      awaitFree(waiter::state);
      CompletableFuture<ZkBlockingWriteLock> second = waiter.acquireAsync(HOUR);
      first.cancel(true);
      holder.unlock();
      assertSame(waiter, soon(second));
    }
  }

  @Test
  void aWaitingSetIsCancelledInEveryWay() throws Exception {
    try (ForelockClient client = server.client(); ZkBlockingWriteLock holder = lock(client);
        LockSet set = new LockSet("cancel", client, List.of(monitor, monitor + "-other"), LockType.BACKGROUND);
        ZkBlockingWriteLock other = new ZkBlockingWriteLock("cancel", client, monitor + "-other")) {
      holder.lock();
      CompletableFuture<LockSet> waiting = set.acquireAsync(HOUR);
      assertTrue(set.cancel());
      ExecutionException end = assertThrows(ExecutionException.class, () -> soon(waiting));
      assertEquals(ErrorCode.CANCELLED, ((ForelockException) end.getCause()).code());
      assertTrue(set.acquireAsync(HOUR).cancel(true));
      awaitFree(set::state);
      assertThrows(ExecutionException.class, () -> soon(set.acquireAsync(HOUR).orTimeout(1, TimeUnit.MILLISECONDS)));
      awaitFree(set::state);
      assertSame(other, soon(other.acquireAsync(HOUR)), "nothing of the set is left");
      set.close();
      holder.unlock();
      assertEquals(List.of(), client.inspector().show(monitor).map(MonitorView::queue).orElse(List.of()));
    }
  }
}
