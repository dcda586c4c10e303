package org.forelock;

import static org.junit.jupiter.api.Assertions.*;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** Threads of a host that must not wait. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WaitingTest {
  @TempDir
  Path folder;

  @Test
  void whoMustNotWaitIsRefusedAndMayUnlock() throws Exception {
    AtomicBoolean serves = new AtomicBoolean();
    Properties outbox = new Properties();
    outbox.setProperty("dlq.outbox.path", folder.resolve("outbox.db").toString());
    try (TestServer server = new TestServer();
        ForelockClient client = server.settings().neverWaiting(thread -> serves.get()).build();
        DeadLetterQueue queue = new DeadLetterQueue(outbox);
        OperationRunner runner = new OperationRunner(client, queue);
        ZkBlockingWriteLock lock = new ZkBlockingWriteLock("test", client, "m");
        LockSet set = new LockSet("test", client, List.of("a", "b"))) {
      serves.set(true);
      List<Executable> calls = List.of(lock::lock, lock::lockWithTimeout, lock::tryLock, set::lockWithTimeout,
          () -> runner.run(new Operation("save", "o", LockType.FOREGROUND), attempt -> { }));
      for (Executable call : calls) {
        RequestRejectedException problem = assertThrows(RequestRejectedException.class, call);
        assertEquals(ErrorCode.INVALID_ARGUMENT, problem.code());
        assertTrue(problem.getMessage().contains(Thread.currentThread().getName()), problem.getMessage());
        assertTrue(problem.hint().contains("Async"), problem.hint());
      }
      lock.acquireAsync(Duration.ofSeconds(30)).get(30, TimeUnit.SECONDS);
      lock.unlock();
      serves.set(false);
      lock.lock();
      assertTrue(lock.isHealthy());
    }
  }
}
