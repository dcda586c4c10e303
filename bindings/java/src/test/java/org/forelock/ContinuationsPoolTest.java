package org.forelock;

import static org.junit.jupiter.api.Assertions.*;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The threads of continuations by themselves, without a client. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ContinuationsPoolTest {
  private final Continuations pool = new Continuations(task -> {
    Thread thread = new Thread(task);
    thread.setDaemon(true);
    return thread;
  }, Runnable::run);

  @Test
  void whatNoThreadIsLeftForWaitsForOne() throws InterruptedException {
    CountDownLatch busy = new CountDownLatch(Continuations.MAX_THREADS);
    CountDownLatch release = new CountDownLatch(1);
    CountDownLatch done = new CountDownLatch(2);
    for (int i = 0; i < Continuations.MAX_THREADS; ++i) {
      pool.execute(() -> {
        busy.countDown();
        await(release);
      });
    }
    busy.await();
    pool.execute(done::countDown);
    pool.execute(done::countDown);
    assertEquals(2, done.getCount());
    release.countDown();
    assertTrue(done.await(60, TimeUnit.SECONDS));
    pool.end();
  }

  @Test
  void whatComesAfterTheEndIsRunByTheOther() throws InterruptedException {
    pool.end();
    CountDownLatch done = new CountDownLatch(1);
    pool.execute(done::countDown);
    assertEquals(0, done.getCount());
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }
}
