package org.forelock;

import static org.forelock.Outcomes.*;
import static org.junit.jupiter.api.Assertions.*;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Which threads close() waits for, and which wait for it. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CloseTest {
  @TempDir
  Path folder;

  private static Thread start(Runnable task) {
    Thread thread = new Thread(task);
    thread.start();
    return thread;
  }

  /** Nothing announces it. */
  private static void awaitWaiting(Thread thread) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (thread.getState() != Thread.State.WAITING) {
      assertTrue(thread.isAlive(), "the thread has ended");
      assertTrue(System.nanoTime() < end, "the thread is " + thread.getState());
      Thread.onSpinWait();
    }
  }

  /** Keeps the thread that fetches events from hearing that it is the end. */
  private static final class Delayed extends Machine {
    final CountDownLatch goOn = new CountDownLatch(1);

    @Override
    int poll(long client, long timeoutMs, long[] numbers, byte[][] texts) {
      int count = super.poll(client, timeoutMs, numbers, texts);
      if (count == -ErrorCode.CLOSED.number()) {
        try {
          goOn.await();
        } catch (InterruptedException impossible) {
          throw new AssertionError(impossible);
        }
      }
      return count;
    }
  }

  @Test
  void whoeverComesSecondWaitsToo() throws Exception {
    Delayed machine = new Delayed();
    try (TestServer server = new TestServer()) {
      ForelockClient client = server.settings().machine(machine).build();
      client.waitConnected(Duration.ofSeconds(30));
      Thread first = start(client::close);
      awaitWaiting(first);
      Thread second = start(client::close);
      awaitWaiting(second);
      assertTrue(first.isAlive());
      machine.goOn.countDown();
      first.join();
      second.join();
      client.close();
    }
  }

  @Test
  void aSecondOneWithinTheClientsOwnThreadsEnds() throws Exception {
    try (TestServer server = new TestServer()) {
      ForelockClient client = server.client();
      ZkBlockingWriteLock holder = new ZkBlockingWriteLock("holder", client, "own");
      ZkBlockingWriteLock waiter = new ZkBlockingWriteLock("waiter", client, "own");
      CompletableFuture<Void> callback = new CompletableFuture<>();
      holder.onLost(reason -> {
        client.close();
        callback.complete(null);
      });
      holder.lock();
      CompletableFuture<?> waiting = waiter.acquireAsync(Duration.ofMinutes(1), Runnable::run)
          .whenComplete((lock, problem) -> client.close());
      client.close();
      assertTrue(waiting.isCompletedExceptionally());
      soon(callback);
    }
  }

  @Test
  void whatIsForgottenMeanwhileIsNotWaitedFor() throws Exception {
    Properties properties = new Properties();
    properties.setProperty("dlq.outbox.path", folder.resolve("outbox.db").toString());
    try (TestServer server = new TestServer(); ForelockClient client = server.client();
        DeadLetterQueue queue = new DeadLetterQueue(properties);
        OperationRunner runner = new OperationRunner(client, queue)) {
      OperationResult result = runner.run(new Operation("save", "op", LockType.BACKGROUND), attempt -> {
        long tag = client.core().expect(event -> { });
        Thread closer = start(client::close);
        awaitWaiting(closer);
        client.core().forget(tag);
        closer.join();
        throw new OperationFailure("busy", "too late", false);
      });
      assertEquals("busy", result.reason());
    }
  }

  @Test
  void whoHasBorrowedAClientDoesNotCloseIt() {
    try (TestServer server = new TestServer(); ForelockClient own = server.client()) {
      ForelockClient borrowed = own.borrowed().borrowed();
      assertThrows(IllegalStateException.class, borrowed::close);
      try (ZkBlockingWriteLock lock = new ZkBlockingWriteLock("test", borrowed, "borrowed")) {
        lock.lock(); // a new server may need longer than the time-out
        assertTrue(lock.isHealthy());
      }
      own.close();
      ZkBlockingWriteLock late = new ZkBlockingWriteLock("test", borrowed, "borrowed");
      assertEquals(ErrorCode.CLOSED, assertThrows(ForelockException.class, late::lockWithTimeout).code());
    }
  }
}
