package org.forelock;

import static org.forelock.Outcomes.*;
import static org.junit.jupiter.api.Assertions.*;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** What depends on the futures of a client holds up neither callbacks nor what depends on other futures. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ContinuationsTest {
  private static final Duration MINUTE = Duration.ofMinutes(1);
  @RegisterExtension
  static final TestServer.OfClass server = new TestServer.OfClass();

  @TempDir
  Path folder;

  /** One whose session outlives a server that is silent for a while. */
  private static ForelockClient patientClient() {
    ForelockClient client = server.settings().set("zookeeper.session.timeout", "60000").build();
    client.waitConnected(Duration.ofSeconds(30));
    return client;
  }

  /** Ends when so many threads are in it at a time. */
  private static final class Meeting {
    private final CountDownLatch missing;

    Meeting(int count) {
      missing = new CountDownLatch(count);
    }

    void attend() {
      missing.countDown();
      try {
        assertTrue(missing.await(30, TimeUnit.SECONDS), missing.getCount() + " did not come");
      } catch (InterruptedException impossible) {
        throw new AssertionError(impossible);
      }
    }
  }

  @Test
  void continuationsOfDifferentLocksMayWaitForEachOther() throws Exception {
    final int count = 8;
    Meeting meeting = new Meeting(count);
    List<CompletableFuture<Void>> ends = new ArrayList<>();
    try (ForelockClient client = patientClient()) {
      server.command("stall"); // until all are begun: what depends on a future that is done runs where it is said
      for (int i = 0; i < count; ++i) {
        ends.add(new ZkBlockingWriteLock("save", client, "meet-" + i).acquireAsync(MINUTE).thenAccept(lock -> {
          meeting.attend();
          lock.close();
        }));
      }
      server.command("flow");
      for (CompletableFuture<Void> end : ends) {
        soon(end);
      }
    }
  }

  @Test
  void soMayThoseOfEveryOtherEnd() throws Exception {
    Properties properties = new Properties();
    properties.setProperty("dlq.outbox.path", folder.resolve("outbox.db").toString());
    try (ForelockClient client = patientClient(); DeadLetterQueue queue = new DeadLetterQueue(properties);
        OperationRunner runner = new OperationRunner(client, queue);
        LockSet set = new LockSet("set", client, List.of("end-1", "end-2"));
        ZkBlockingWriteLock released = new ZkBlockingWriteLock("released", client, "end-3");
        ZkBlockingWriteLock refused = new ZkBlockingWriteLock("refused", client, "end-4");
        ZkBlockingWriteLock cancelled = new ZkBlockingWriteLock("cancelled", client, "end-4");
        ForelockClient another = patientClient();
        ZkBlockingWriteLock holder = new ZkBlockingWriteLock("holder", another, "end-4")) {
      holder.lock();
      released.lock();
      server.command("stall");
      CompletableFuture<?> cancellation = cancelled.acquireAsync(MINUTE);
      List<CompletableFuture<?>> all = List.of(set.acquireAsync(MINUTE), released.unlockAsync(),
          refused.tryLockAsync(), cancellation,
          runner.runAsync(new Operation("save", "end-5", LockType.BACKGROUND), Runnable::run,
              attempt -> CompletableFuture.completedFuture(null)));
      Meeting meeting = new Meeting(all.size());
      List<CompletableFuture<?>> ends = new ArrayList<>();
      for (CompletableFuture<?> one : all) {
        ends.add(one.handle((end, problem) -> {
          meeting.attend();
          return end;
        }));
      }
      assertTrue(cancelled.cancel());
      server.command("flow");
      for (CompletableFuture<?> end : ends) {
        soon(end);
      }
      assertFalse(cancellation.isCancelled());
      assertTrue(cancellation.isCompletedExceptionally());
    }
  }

  @Test
  void aContinuationMayWaitForAnotherFutureOfTheClient() throws Exception {
    try (ForelockClient client = server.client();
        ZkBlockingWriteLock first = new ZkBlockingWriteLock("first", client, "chain-1");
        ZkBlockingWriteLock second = new ZkBlockingWriteLock("second", client, "chain-2")) {
      assertSame(second, soon(first.acquireAsync(MINUTE).thenApply(lock -> {
        try {
          return soon(second.acquireAsync(MINUTE));
        } catch (Exception problem) {
          throw new IllegalStateException(problem);
        }
      })));
    }
  }

  @Test
  void aLossIsToldWhileContinuationsRun() throws Exception {
    try (ForelockClient client = server.client();
        ZkBlockingWriteLock lost = new ZkBlockingWriteLock("lost", client, "loss-1");
        ZkBlockingWriteLock working = new ZkBlockingWriteLock("working", client, "loss-2")) {
      CompletableFuture<LossReason> told = new CompletableFuture<>();
      lost.onLost(told::complete);
      lost.lock();
      CompletableFuture<LossReason> end = working.acquireAsync(MINUTE).thenApply(lock -> {
        client.inspector().forceRelease("loss-1", holder(client, "loss-1"));
        return told.orTimeout(30, TimeUnit.SECONDS).join();
      });
      assertEquals(LossReason.REMOVED, soon(end));
    }
  }

  private static String holder(ForelockClient client, String monitor) {
    MonitorView view = client.inspector().show(monitor).orElseThrow();
    String node = view.holderNode().isEmpty() ? "0x" + Long.toHexString(view.holderSession()) : view.holderNode();
    return node + "@" + view.holderToken();
  }

  @Test
  void anExecutorOfTheHostCompletesAllFutures() throws Exception {
    Semaphore attached = new Semaphore(0);
    Executor executor = task -> new Thread(() -> {
      attached.acquireUninterruptibly();
      task.run();
    }, "of the host").start();
    try (ForelockClient client = server.settings().executor(executor).build();
        ZkBlockingWriteLock lock = new ZkBlockingWriteLock("lock", client, "executor-1");
        LockSet set = new LockSet("set", client, List.of("executor-2", "executor-3"))) {
      assertEquals("of the host", threadAtTheEndOf(lock.acquireAsync(MINUTE), attached));
      assertEquals("of the host", threadAtTheEndOf(set.tryLockAsync(), attached));
      assertEquals("of the host", threadAtTheEndOf(lock.unlockAsync(), attached));
    }
  }

  @Test
  void anExecutorThatRefusesLeavesItToTheThreadForCallbacks() throws Exception {
    for (RuntimeException refusal : new RuntimeException[] {
        new RejectedExecutionException("has ended"), new IllegalStateException("a defect of the host")}) {
      Semaphore attached = new Semaphore(0);
      Executor executor = task -> {
        attached.acquireUninterruptibly();
        throw refusal;
      };
      try (ForelockClient client = server.settings().executor(executor).build();
          ZkBlockingWriteLock lock = new ZkBlockingWriteLock("lock", client, "refuses")) {
        assertEquals("forelock-callbacks", threadAtTheEndOf(lock.acquireAsync(MINUTE), attached));
        assertEquals("forelock-callbacks", threadAtTheEndOf(lock.unlockAsync(), attached));
      }
    }
  }

  /** The thread that runs what depends on it, which the executor leaves until it does. */
  private static String threadAtTheEndOf(CompletableFuture<?> future, Semaphore attached) throws Exception {
    CompletableFuture<String> name = future.handle((end, problem) -> Thread.currentThread().getName());
    attached.release();
    return soon(name);
  }

  @Test
  void aSlowCallbackIsNamedInTheLog() throws Exception {
    LoggerTest.Expectation slow = new LoggerTest.Expectation(
        System.Logger.Level.WARNING, "slow callback: onContended of the lock on slow has been running for ");
    try (ForelockClient client = server.settings().logger(slow).build();
        ZkBlockingWriteLock lock = new ZkBlockingWriteLock("slow", client, "slow", LockType.BACKGROUND);
        ForelockClient another = server.client();
        ZkBlockingWriteLock other = new ZkBlockingWriteLock("other", another, "slow")) {
      CompletableFuture<String> named = new CompletableFuture<>();
      lock.onContended(type -> named.complete(slow.met.orTimeout(30, TimeUnit.SECONDS).join()));
      lock.lock();
      CompletableFuture<?> waiting = other.acquireAsync(MINUTE);
      soon(named);
      lock.unlock();
      soon(waiting);
    }
  }

  @Test
  void anExecutorCompletes() throws Exception {
    try (ForelockClient client = server.client()) {
      ZkBlockingWriteLock holder = new ZkBlockingWriteLock("executor", client, "completes");
      ZkBlockingWriteLock waiter = new ZkBlockingWriteLock("executor", client, "completes");
      CompletableFuture<Runnable> given = new CompletableFuture<>();
      CompletableFuture<String> thread = new CompletableFuture<>();
      Executor refuses = task -> {
        throw new RejectedExecutionException();
      };
      assertEquals(holder, soon(holder.acquireAsync(MINUTE, refuses)), "it is completed all the same");
      CompletableFuture<ZkBlockingWriteLock> waiting = waiter.acquireAsync(MINUTE, given::complete);
      holder.unlock();
      Runnable completion = soon(given);
      assertFalse(waiting.isDone());
      completion.run();
      assertEquals(waiter, waiting.getNow(null));
      assertEquals(ErrorCode.LOCK_UNAVAILABLE, failure(holder.tryLockAsync(Runnable::run)).code());
      waiter.close();
      waiting = holder.acquireAsync(MINUTE, Runnable::run);
      waiting.whenComplete((lock, problem) -> thread.complete(Thread.currentThread().getName()));
      assertEquals(holder, soon(waiting));
      assertFalse(soon(thread).equals("forelock-callbacks"));
    }
  }

  @Test
  void anExecutorThatThrowsLosesNoLock() throws Exception {
    Executor defective = task -> {
      throw new IllegalStateException("a defect of the host");
    };
    Executor late = task -> {
      task.run();
      throw new AssertionError("after it has run the task");
    };
    try (ForelockClient client = server.client();
        ZkBlockingWriteLock lock = new ZkBlockingWriteLock("executor", client, "throws")) {
      for (Executor executor : List.of(defective, late)) {
        assertSame(lock, soon(lock.acquireAsync(MINUTE, executor)));
        assertTrue(lock.isHealthy());
        lock.unlock();
      }
    }
    try (ForelockClient client = server.settings().set("zookeeper.lock.linger", "60000").build();
        ZkBlockingWriteLock lock = new ZkBlockingWriteLock("executor", client, "throws")) {
      lock.lock();
      lock.unlock();
      for (Executor executor : List.of(defective, late)) {
        assertSame(lock, lock.acquireAsync(MINUTE, executor).getNow(null), "it has lingered");
        assertTrue(lock.isHealthy());
        lock.unlock();
      }
    }
  }
}
