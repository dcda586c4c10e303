package org.forelock;

import static org.forelock.Outcomes.*;
import static org.junit.jupiter.api.Assertions.*;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import java.util.ResourceBundle;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A client goes on whatever the host's code does, and whatever the JVM has no more of. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HostFaultsTest {
  private static final Duration MINUTE = Duration.ofMinutes(1);
  private static final Executor REFUSES = task -> {
    throw new RejectedExecutionException();
  };
  private static final Executor DEFECTIVE = task -> {
    throw new IllegalStateException("a defect of the host");
  };
  @RegisterExtension
  static final TestServer.OfClass server = new TestServer.OfClass();

  @TempDir
  Path folder;

  private static final class DefectiveLogger implements System.Logger {
    final AtomicInteger lines = new AtomicInteger();

    @Override
    public String getName() {
      return "defective";
    }

    @Override
    public boolean isLoggable(Level level) {
      return true;
    }

    @Override
    public void log(Level level, ResourceBundle bundle, String message, Throwable thrown) {
      lines.incrementAndGet();
      throw new IllegalStateException("a defect of the host's log");
    }

    @Override
    public void log(Level level, ResourceBundle bundle, String format, Object... parameters) {
      log(level, bundle, format, (Throwable) null);
    }
  }

  private static ForelockClient open(System.Logger logger, Machine machine) {
    ForelockClient client = server.settings().logger(logger).machine(machine).build();
    client.waitConnected(Duration.ofSeconds(30));
    return client;
  }

  private static ForelockClient open(Machine machine) {
    return open(System.getLogger("org.forelock"), machine);
  }

  private static ZkBlockingWriteLock lock(ForelockClient client, String monitor) {
    return new ZkBlockingWriteLock("test", client, "host-" + monitor, LockType.BACKGROUND);
  }

  /** Only the thread that fetches events can tell the end of these. */
  private static void waitingIsTold(ForelockClient client, String monitor, Executor executor) throws Exception {
    try (ZkBlockingWriteLock holder = lock(client, monitor); ZkBlockingWriteLock waiter = lock(client, monitor)) {
      for (int i = 0; i < 3; ++i) {
        holder.lock();
        CompletableFuture<ZkBlockingWriteLock> waiting =
            executor == null ? waiter.acquireAsync(MINUTE) : waiter.acquireAsync(MINUTE, executor);
        holder.unlock();
        assertSame(waiter, soon(waiting));
        soon(waiter.unlockAsync());
      }
    }
  }

  @Test
  void aLoggerThatThrowsStopsNothing() throws Exception {
    DefectiveLogger logger = new DefectiveLogger();
    try (ForelockClient client = open(logger, new Machine())) {
      waitingIsTold(client, "logger", DEFECTIVE);
      waitingIsTold(client, "logger", null);
      assertTrue(logger.lines.get() > 0);
    }
  }

  @Test
  void eventsThatCannotBeFetchedAreFetchedLater() throws Exception {
    AtomicInteger calls = new AtomicInteger();
    AtomicBoolean fails = new AtomicBoolean();
    try (ForelockClient client = open(new DefectiveLogger(), new Machine() {
      @Override
      int poll(long client, long timeoutMs, long[] numbers, byte[][] texts) {
        if (fails.get()) {
          int call = calls.incrementAndGet();
          if (call > 3) {
            fails.set(false);
          }
          if (call % 2 == 0) {
            throw new OutOfMemoryError("of a test");
          }
          Thread.currentThread().interrupt();
          return -ErrorCode.OUT_OF_MEMORY.number();
        }
        return super.poll(client, timeoutMs, numbers, texts);
      }
    })) {
      fails.set(true);
      waitingIsTold(client, "poll", null);
      assertEquals(4, calls.get());
    }
  }

  @Test
  void noThreadIsNeededLater() throws Exception {
    AtomicBoolean none = new AtomicBoolean();
    try (ForelockClient client = open(new DefectiveLogger(), new Machine() {
      @Override
      Thread thread(Runnable task, String name) {
        if (none.get()) {
          throw new OutOfMemoryError("unable to create native thread");
        }
        return super.thread(task, name);
      }
    })) {
      none.set(true);
      waitingIsTold(client, "threads", null);
    }
  }

  @Test
  void aClientWithoutThreadsIsNotOpenedAndLeavesNothing() throws Exception {
    open(new Machine()).close();
    int before = threads() + 3; // the JVM has threads of its own, which come and go; a client has more than these
    for (String missing : new String[] {"forelock-callbacks", "forelock-poll", "forelock-shutdown"}) {
      Machine machine = new Machine() {
        @Override
        Thread thread(Runnable task, String name) {
          if (name.equals(missing)) {
            throw new OutOfMemoryError("unable to create native thread");
          }
          return super.thread(task, name);
        }
      };
      assertThrows(OutOfMemoryError.class,
          () -> server.settings().machine(machine).closeOnShutdown(Duration.ZERO).build());
    }
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (threads() > before) {
      assertTrue(System.nanoTime() < end, threads() + " threads, of which there were " + before);
      Thread.onSpinWait();
    }
    try (ForelockClient client = open(new Machine())) {
      waitingIsTold(client, "again", null);
    }
  }

  private static int threads() throws IOException {
    try (Stream<Path> tasks = Files.list(Path.of("/proc/self/task"))) {
      return (int) tasks.count();
    }
  }

  @Test
  void locksThatAreWaitedForWhereEventsAreFetchedEndInTime() throws Exception {
    try (ForelockClient client = server.client(); ZkBlockingWriteLock holder = lock(client, "held");
        ZkBlockingWriteLock other = lock(client, "held"); ZkBlockingWriteLock free = lock(client, "free");
        LockSet set = new LockSet("test", client, List.of("host-held", "host-set"));
        ZkBlockingWriteLock before = lock(client, "first"); ZkBlockingWriteLock first = lock(client, "first")) {
      holder.lock();
      before.lock();
      CompletableFuture<Void> told = first.acquireAsync(MINUTE, REFUSES).thenAccept(held -> {
        assertFalse(other.tryLock(Duration.ofMillis(200)));
        assertFalse(other.tryLock());
        assertFalse(set.tryLock(Duration.ofMillis(200)));
        assertEquals(ErrorCode.LOCK_TIMEOUT, assertThrows(InstanceLockException.class, set::lockWithTimeout).code());
        free.lock();
        free.unlock();
        held.unlock();
        holder.unlock();
        assertTrue(other.tryLock(MINUTE));
        assertTrue(other.stepAside(MINUTE));
        assertTrue(client.core().onPoller());
      });
      before.unlock();
      soon(told);
      other.unlock();
      waitingIsTold(client, "afterwards", null);
    }
  }

  @Test
  void anOperationIsNotRunWhereEventsAreFetched() throws Exception {
    Properties properties = new Properties();
    properties.setProperty("dlq.outbox.path", folder.resolve("outbox.db").toString());
    try (ForelockClient client = server.client(); DeadLetterQueue queue = new DeadLetterQueue(properties);
        OperationRunner runner = new OperationRunner(client, queue)) {
      Operation operation = new Operation("save", "host-run", LockType.BACKGROUND);
      CompletableFuture<OperationResult> end = runner.runAsync(operation, Runnable::run, attempt -> {
        RequestRejectedException refused = assertThrows(RequestRejectedException.class,
            () -> runner.run(new Operation("save", "host-other", LockType.BACKGROUND), inner -> { }));
        assertEquals(ErrorCode.INVALID_ARGUMENT, refused.code());
        assertEquals("host-other", refused.monitor());
        assertFalse(refused.hint().isEmpty());
        return CompletableFuture.completedFuture(null);
      });
      assertTrue(soon(end).succeeded());
    }
  }
}
