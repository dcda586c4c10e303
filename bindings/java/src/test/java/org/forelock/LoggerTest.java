package org.forelock;

import static org.junit.jupiter.api.Assertions.*;

import java.util.List;
import java.util.ResourceBundle;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Where the client's log lines go. */
class LoggerTest {
  /** Waits for a line of a level with a text in it. */
  static final class Expectation implements System.Logger {
    private final Level expected;
    private final String text;
    final CompletableFuture<String> met = new CompletableFuture<>();

    Expectation(Level expected, String text) {
      this.expected = expected;
      this.text = text;
    }

    @Override
    public String getName() {
      return "test";
    }

    @Override
    public boolean isLoggable(Level level) {
      return level.getSeverity() >= expected.getSeverity();
    }

    @Override
    public void log(Level level, ResourceBundle bundle, String message, Throwable thrown) {
      if (level == expected && message.contains(text)) {
        met.complete(message);
      }
    }

    @Override
    public void log(Level level, ResourceBundle bundle, String format, Object... parameters) {
      log(level, bundle, format, (Throwable) null);
    }
  }

  @Test
  void aServerThatIsNotThereIsToldToTheLoggerOfTheClient() throws Exception {
    Expectation refused = new Expectation(System.Logger.Level.WARNING, "127.0.0.1:1: Connection refused");
    try (ForelockClient ignored = ForelockClient.builder().servers("127.0.0.1:1").logger(refused).build()) {
      refused.met.get(30, TimeUnit.SECONDS);
    }
  }

  @Test
  void theCourseOfALockIsToldToALoggerThatTakesDebugLines() throws Exception {
    Expectation granted = new Expectation(System.Logger.Level.DEBUG, "is granted the lock");
    try (TestServer server = new TestServer();
        ForelockClient client = server.settings().logger(granted).build();
        ZkBlockingWriteLock lock = new ZkBlockingWriteLock("course", client, "course")) {
      lock.lock();
      granted.met.get(30, TimeUnit.SECONDS);
    }
  }

  /** Writes a line when the thread that closes the client waits for that, or is through. */
  private static final class Patient implements System.Logger {
    final AtomicInteger lines = new AtomicInteger();
    volatile Thread closer;
    volatile boolean closed;

    @Override
    public String getName() {
      return "patient";
    }

    @Override
    public boolean isLoggable(Level level) {
      return true;
    }

    @Override
    public void log(Level level, ResourceBundle bundle, String message, Throwable thrown) {
      while (!closed && (closer == null || closer.getState() != Thread.State.TIMED_WAITING)) {
        Thread.onSpinWait();
      }
      lines.incrementAndGet();
    }

    @Override
    public void log(Level level, ResourceBundle bundle, String format, Object... parameters) {
      log(level, bundle, format, (Throwable) null);
    }
  }

  @Test
  void whatIsLoggedIsWrittenWhenTheClientIsClosed() {
    Patient logger = new Patient();
    try (TestServer server = new TestServer()) {
      ForelockClient client = server.settings().logger(logger).build();
      new ZkBlockingWriteLock("course", client, "written").lock();
      logger.closer = Thread.currentThread();
      client.close();
      int written = logger.lines.get();
      logger.closed = true;
      assertTrue(written > 0);
    }
  }

  @Test
  void aHeldLockThatIsForgottenIsToldAndFreed() throws Exception {
    Expectation forgotten = new Expectation(System.Logger.Level.WARNING, "the lock on forgotten was never unlocked");
    try (TestServer server = new TestServer(); ForelockClient client = server.settings().logger(forgotten).build();
        ZkBlockingWriteLock next = new ZkBlockingWriteLock("next", client, "forgotten")) {
      new ZkBlockingWriteLock("forgotten", client, "forgotten").lock();
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
      while (!forgotten.met.isDone()) {
        if (System.nanoTime() > end) {
          throw new AssertionError("nobody was told");
        }
        System.gc();
      }
      next.lock();
    }
  }

  @Test
  void aClientIsNotGarbageBeforeItsLocks() throws Exception {
    Expectation forgotten = new Expectation(System.Logger.Level.WARNING, "a ForelockClient was never closed");
    try (TestServer server = new TestServer();
        ZkBlockingWriteLock lock =
            new ZkBlockingWriteLock("alone", server.settings().logger(forgotten).build(), "alone");
        LockSet set =
            new LockSet("alone", server.settings().logger(forgotten).build(), List.of("one", "two"))) {
      lock.lock();
      set.lock();
      collectGarbage();
      collectGarbage();
      assertFalse(forgotten.met.isDone());
      lock.checkHealth();
      set.checkHealth();
      lock.unlock();
      lock.acquireAsync().get(30, TimeUnit.SECONDS);
    }
  }

  /** Returns when an object that has become garbage has been dealt with. */
  private static void collectGarbage() {
    CompletableFuture<Void> cleaned = new CompletableFuture<>();
    ForelockClient.cleaner().register(new Object(), () -> cleaned.complete(null));
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (!cleaned.isDone()) {
      assertTrue(System.nanoTime() < end, "nothing is collected");
      System.gc();
    }
  }
}
