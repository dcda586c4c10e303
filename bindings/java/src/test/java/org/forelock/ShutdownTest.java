package org.forelock;

import static org.forelock.Outcomes.*;
import static org.junit.jupiter.api.Assertions.*;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A holder's JVM that is ended by SIGTERM, long before its session would end. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ShutdownTest {
  private static final Duration LESS_THAN_A_SESSION = Duration.ofSeconds(40);
  private static final int BY_SIGTERM = 143;
  @RegisterExtension
  static final TestServer.OfClass server = new TestServer.OfClass();

  @TempDir
  Path folder;

  @Test
  void theLocksOfAnEndedProcessAreFreeAtOnce() throws Exception {
    Process process = holder("at-once", 0);
    try (BufferedReader said = output(process); ForelockClient client = server.client();
        ZkBlockingWriteLock next = new ZkBlockingWriteLock("next", client, "at-once")) {
      assertEquals("held for a session of 60000 ms", said.readLine());
      assertFalse(next.tryLock());
      terminate(process);
      assertTrue(next.tryLock(LESS_THAN_A_SESSION));
      assertEquals(BY_SIGTERM, process.waitFor());
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  void aSectionMayEndFirst() throws Exception {
    Process process = holder("section", 3_600_000);
    try (BufferedReader said = output(process); ForelockClient client = server.client();
        ZkBlockingWriteLock next = new ZkBlockingWriteLock("next", client, "section")) {
      assertEquals("held for a session of 60000 ms", said.readLine());
      terminate(process);
      assertEquals("CLOSED", said.readLine(), "nothing new may begin");
      assertFalse(next.tryLock());
      process.getOutputStream().write('\n');
      process.getOutputStream().flush();
      assertTrue(next.tryLock(LESS_THAN_A_SESSION));
      assertEquals(BY_SIGTERM, process.waitFor());
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  void aClientThatIsClosedLeavesNothingForTheEnd() throws Exception {
    CompletableFuture<Thread> hook = new CompletableFuture<>();
    Machine machine = new Machine() {
      @Override
      Thread thread(Runnable task, String name) {
        Thread thread = super.thread(task, name);
        if (name.equals("forelock-shutdown")) {
          hook.complete(thread);
        }
        return thread;
      }
    };
    try (ForelockClient client = server.settings().machine(machine).closeOnShutdown(Duration.ZERO).build()) {
      assertThrows(IllegalArgumentException.class, () -> Runtime.getRuntime().addShutdownHook(hook.getNow(null)));
    }
    assertFalse(Runtime.getRuntime().removeShutdownHook(hook.getNow(null)));
  }

  @Test
  void nothingBeginsFromThenOn() throws Exception {
    Properties properties = new Properties();
    properties.setProperty("dlq.outbox.path", folder.resolve("outbox.db").toString());
    try (ForelockClient client = server.client(); LockSet set = new LockSet("set", client, List.of("new"));
        DeadLetterQueue queue = new DeadLetterQueue(properties);
        OperationRunner runner = new OperationRunner(client, queue)) {
      client.core().refuseNew();
      assertEquals(ErrorCode.CLOSED, code(set::lock));
      assertEquals(ErrorCode.CLOSED, code(set::tryLock));
      ExecutionException end =
          assertThrows(ExecutionException.class, () -> set.acquireAsync().get(30, TimeUnit.SECONDS));
      assertEquals(ErrorCode.CLOSED, ((ForelockException) end.getCause()).code());
      Operation operation = new Operation("save", "new", LockType.BACKGROUND);
      assertEquals(ErrorCode.CLOSED, code(() -> runner.run(operation, attempt -> { })));
    }
  }

  private static Process holder(String monitor, long patienceMs) throws IOException {
    return new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx64m", "-cp",
        System.getProperty("java.class.path") + File.pathSeparator + System.getProperty("forelock.classes")
            + File.pathSeparator + Path.of(System.getProperty("forelock.classes")).resolveSibling("test-classes"),
        StoppedHolder.class.getName(), server.address(), monitor, Long.toString(patienceMs))
        .redirectError(ProcessBuilder.Redirect.INHERIT).start();
  }

  /** {@code Process.destroy} closes what it says, too. */
  private static void terminate(Process process) throws Exception {
    assertEquals(0, new ProcessBuilder("kill", "-TERM", Long.toString(process.pid())).start().waitFor());
  }

  private static BufferedReader output(Process process) {
    return new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
  }
}
