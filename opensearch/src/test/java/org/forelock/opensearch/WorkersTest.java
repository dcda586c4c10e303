package org.forelock.opensearch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.opensearch.common.settings.Settings;
import org.opensearch.threadpool.ThreadPool;

class WorkersTest {
  private final ThreadPool threads = new ThreadPool(Settings.builder().put("node.name", "test").build());
  private final Workers workers = new Workers(threads);

  @AfterEach
  void end() throws InterruptedException {
    threads.shutdownNow();
    assertTrue(threads.awaitTermination(30, TimeUnit.SECONDS));
  }

  private static Exception told(Consumer<Consumer<Exception>> work) throws Exception {
    CompletableFuture<Exception> told = new CompletableFuture<>();
    work.accept(told::complete);
    return told.get(30, TimeUnit.SECONDS);
  }

  @Test
  void fewThreadsAreBlockedAtATime() throws Exception {
    AtomicInteger running = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    CountDownLatch begun = new CountDownLatch(Workers.MAX_BLOCKED);
    CountDownLatch go = new CountDownLatch(1);
    CountDownLatch done = new CountDownLatch(12);
    for (int i = 0; i < 12; ++i) {
      workers.block(() -> {
        most.accumulateAndGet(running.incrementAndGet(), Math::max);
        begun.countDown();
        await(go);
        running.decrementAndGet();
        throw new IllegalStateException("does not end the others");
      }, problem -> done.countDown());
    }
    await(begun);
    assertEquals(Workers.MAX_BLOCKED, running.get());
    go.countDown();
    await(done);
    assertEquals(Workers.MAX_BLOCKED, most.get());
  }

  private static void await(CountDownLatch latch) {
    try {
      assertTrue(latch.await(30, TimeUnit.SECONDS));
    } catch (InterruptedException problem) {
      throw new IllegalStateException(problem);
    }
  }

  @Test
  void whatATaskThrowsIsTold() throws Exception {
    Runnable task = () -> {
      throw new IllegalStateException(Thread.currentThread().getName());
    };
    assertTrue(told(failed -> workers.write(task, failed)).getMessage().contains("[write]"));
    assertTrue(told(failed -> workers.block(task, failed)).getMessage().contains("[generic]"));
    assertTrue(told(failed -> workers.later(1, task, failed)).getMessage().contains("[generic]"), "not the scheduler");
  }
}
