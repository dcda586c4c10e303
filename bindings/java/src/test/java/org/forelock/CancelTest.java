package org.forelock;

import static org.forelock.Outcomes.*;
import static org.junit.jupiter.api.Assertions.*;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Whichever way an application loses interest in an acquisition: nothing of it stays, in the queue or held. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CancelTest {
  private static final Duration HOUR = Duration.ofHours(1);
  @RegisterExtension
  static final TestServer.OfClass server = new TestServer.OfClass();
  private String monitor;

  @BeforeEach
  void name(TestInfo test) {
    monitor = test.getDisplayName();
  }

  private ZkBlockingWriteLock lock(ForelockClient client) {
    return new ZkBlockingWriteLock("cancel", client, monitor, LockType.BACKGROUND);
  }

  @Test
  void aTimeOutOfTheFutureWithdraws() throws Exception {
    try (ForelockClient client = server.client(); ZkBlockingWriteLock holder = lock(client);
        ZkBlockingWriteLock waiter = lock(client)) {
      holder.lock();
      ExecutionException end = assertThrows(ExecutionException.class,
          () -> soon(waiter.acquireAsync(HOUR).orTimeout(1, TimeUnit.MILLISECONDS)));
      assertTrue(end.getCause() instanceof TimeoutException);
      awaitState(waiter::state, LockState.FREE);
      assertNull(soon(waiter.acquireAsync(HOUR).completeOnTimeout(null, 1, TimeUnit.MILLISECONDS)));
      awaitState(waiter::state, LockState.FREE);
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
      awaitState(waiter::state, LockState.FREE);
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
      awaitState(set::state, LockState.FREE);
      assertThrows(ExecutionException.class, () -> soon(set.acquireAsync(HOUR).orTimeout(1, TimeUnit.MILLISECONDS)));
      awaitState(set::state, LockState.FREE);
      assertSame(other, soon(other.acquireAsync(HOUR)), "nothing of the set is left");
      set.close();
      holder.unlock();
      assertEquals(List.of(), client.inspector().show(monitor).map(MonitorView::queue).orElse(List.of()));
    }
  }

  @Test
  void interruptionWithdrawsAndRestoresTheFlag() throws Exception {
    try (ForelockClient client = server.client(); ZkBlockingWriteLock holder = lock(client);
        ZkBlockingWriteLock waiter = lock(client)) {
      holder.lockWithTimeout();
      CompletableFuture<Boolean> flag = new CompletableFuture<>();
      Thread thread = new Thread(() -> {
        assertThrows(InstanceLockException.class, waiter::lock);
        flag.complete(Thread.currentThread().isInterrupted());
      });
      thread.start();
      awaitState(waiter::state, LockState.WAITING);
      thread.interrupt();
      assertTrue(soon(flag));
      assertEquals(LockState.FREE, waiter.state());
      CompletableFuture<Boolean> adapter = new CompletableFuture<>();
      Thread other = new Thread(() -> {
        assertThrows(InterruptedException.class, waiter.asLock()::lockInterruptibly);
        adapter.complete(Thread.currentThread().isInterrupted());
      });
      other.start();
      awaitState(waiter::state, LockState.WAITING);
      other.interrupt();
      assertFalse(soon(adapter));
    }
  }

  @Test
  void anAdapterKeepsItsPlaceWhateverInterruptsIt() throws Exception {
    try (ForelockClient client = server.client(); ZkBlockingWriteLock holder = lock(client);
        ZkBlockingWriteLock first = lock(client);
        ZkBlockingWriteLock second = lock(client)) {
      holder.lock();
      CompletableFuture<Boolean> flag = new CompletableFuture<>();
      CompletableFuture<Void> released = new CompletableFuture<>();
      Thread thread = new Thread(() -> {
        first.asLock().lock();
        flag.complete(Thread.currentThread().isInterrupted());
        Thread.interrupted();
        released.join();
        first.unlock();
      });
      CompletableFuture<QueuePosition> place = new CompletableFuture<>();
      first.onQueued(place::complete);
      thread.start();
      soon(place);
      String node = client.inspector().show(monitor).orElseThrow().queue().get(0).node();
      CompletableFuture<ZkBlockingWriteLock> later = queued(second);
      for (int i = 0; i < 3; ++i) {
        thread.interrupt();
        MonitorView view = client.inspector().show(monitor).orElseThrow();
        assertEquals(List.of(node), List.of(view.queue().get(0).node()), "the waiter that it was");
      }
      holder.unlock();
      assertTrue(soon(flag), "the interruption is seen afterwards");
      assertFalse(later.isDone());
      released.complete(null);
      assertSame(second, soon(later));
      thread.join();
    }
  }

  @Test
  void anAttemptDoesNotCareForAnEarlierInterruption() throws Exception {
    try (ForelockClient client = server.client(); ZkBlockingWriteLock lock = lock(client);
        LockSet set = new LockSet("set", client, List.of(monitor + "a", monitor + "b"))) {
      Thread.currentThread().interrupt();
      assertTrue(lock.asLock().tryLock());
      assertTrue(Thread.currentThread().isInterrupted());
      lock.unlock();
      assertTrue(lock.tryLock());
      assertTrue(set.tryLock());
      assertFalse(lock(client).asLock().tryLock());
      assertTrue(Thread.interrupted());
      lock.unlock();
      Thread.currentThread().interrupt();
      assertThrows(InterruptedException.class, () -> lock.asLock().tryLock(1, TimeUnit.SECONDS));
      assertFalse(Thread.interrupted());
    }
  }

  @Test
  void aGrantThatNobodyWantsIsReleasedButNoLaterOne() throws Exception {
    try (ForelockClient client = server.client(); ZkBlockingWriteLock lock = lock(client);
        LockSet set = new LockSet("set", client, List.of(monitor + "a", monitor + "b"))) {
      for (boolean unlocked : new boolean[] {false, true}) {
        CompletableFuture<Runnable> end = new CompletableFuture<>();
        CompletableFuture<ZkBlockingWriteLock> cancelled = lock.acquireAsync(HOUR, end::complete);
        CompletableFuture<Runnable> endOfSet = new CompletableFuture<>();
        CompletableFuture<LockSet> ofSet = set.acquireAsync(HOUR, endOfSet::complete);
        soon(end);
        soon(endOfSet);
        assertTrue(cancelled.cancel(true));
        assertTrue(ofSet.cancel(true));
        if (unlocked) {
          lock.unlock();
          lock.lock();
          soon(set.unlockAsync());
          set.lock();
        }
        soon(end).run();
        soon(endOfSet).run();
        assertEquals(unlocked, lock.isHealthy());
        assertEquals(unlocked ? LockState.HELD : LockState.FREE, set.state());
      }
    }
  }
}
