package org.forelock;

import static org.junit.jupiter.api.Assertions.*;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ReplayTest {
  private static final Instant FAILED = Instant.parse("2026-01-02T03:04:05.678Z");
  @RegisterExtension
  static final TestServer.OfClass server = new TestServer.OfClass();

  @TempDir
  Path folder;
  private ForelockClient client;
  private DeadLetterQueue queue;

  @BeforeEach
  void open() {
    client = server.client();
    Properties properties = new Properties();
    properties.setProperty("dlq.outbox.path", folder.resolve("outbox.db").toString());
    queue = new DeadLetterQueue(properties);
  }

  @AfterEach
  void close() {
    queue.close();
    client.close();
  }

  private void add(String id, String monitor, String type) {
    queue.accept(client,
        new Operation(type, monitor, LockType.FOREGROUND).id(id).payload(new byte[] {0, (byte) 0xff}).lockInfo("Save"),
        List.of(new FailedAttempt(FAILED.minusSeconds(1), "busy", "one", Duration.ofMillis(10)),
            new FailedAttempt(FAILED, "red", "two", Duration.ofMillis(20))),
        4);
  }

  private static String texts(ReplayReport report) {
    StringBuilder all = new StringBuilder();
    for (UnresolvedLetter letter : report.unresolved()) {
      all.append(letter.id()).append(' ').append(letter.outcome()).append(' ').append(letter.why()).append('\n');
    }
    return all.toString();
  }

  @Test
  void theHandlerGetsEachLetterUnderItsLock() {
    add("a1", "a", "save");
    add("a2", "a", "save");
    List<String> ids = new ArrayList<>();
    Thread caller = Thread.currentThread();
    ReplayReport report = queue.replay(client, attempt -> {
      assertSame(caller, Thread.currentThread());
      DeadLetter letter = attempt.letter();
      ids.add(letter.id());
      assertEquals("save", letter.type());
      assertEquals("a", letter.monitor());
      assertEquals(LockType.FOREGROUND, letter.lockType());
      assertEquals("Save", letter.lockInfo());
      assertArrayEquals(new byte[] {0, (byte) 0xff}, letter.payload());
      assertEquals("red", letter.reason());
      assertEquals(FAILED, letter.failedAt());
      assertTrue(letter.enqueuedAt().isBefore(FAILED));
      assertEquals(4, letter.maxAttempts());
      assertEquals(List.of("busy", "red"), List.of(letter.attempts().get(0).code(), letter.attempts().get(1).code()));
      assertEquals("two", letter.attempts().get(1).message());
      assertEquals(Duration.ofMillis(20), letter.attempts().get(1).waited());
      assertFalse(letter.instance().isEmpty());
      assertEquals("", letter.traceparent());
      assertEquals(0, attempt.tries());
      attempt.checkHealth();
      assertTrue(attempt.isHealthy() && attempt.fencingToken() > 0);
      assertFalse(attempt.shouldStop());
    });
    assertEquals(List.of("a1", "a2"), ids);
    assertEquals(2, report.replayed());
    assertEquals("", texts(report));
    assertFalse(report.stopped());
    assertEquals(0, queue.outboxRows());
  }

  @Test
  void whatTheHandlerThrowsDecides() {
    add("b1", "b", "broken");
    add("b2", "b", "good");
    add("c1", "c", "busy");
    add("d1", "d", "odd");
    add("e1", "e", "lost");
    add("f1", "f", "good");
    ReplayReport report = queue.replay(client, attempt -> {
      switch (attempt.letter().type()) {
        case "broken":
          throw new OperationFailure("bad_row", "row 7", false);
        case "busy":
          throw new OperationFailure("busy", "rebuilt", true);
        case "odd":
          throw new IllegalStateException("a defect");
        case "lost":
          Inspector inspector = client.inspector();
          inspector.forceRelease("e", inspector.show("e").orElseThrow().holderNode());
          while (!attempt.shouldStop()) {
            Thread.onSpinWait();
          }
          break;
        default:
      }
    });
    assertEquals(1, report.replayed());
    assertEquals(2, report.failed());
    assertEquals(2, report.later());
    assertEquals(1, report.skipped());
    String all = texts(report);
    assertTrue(all.contains("b1 FAILED bad_row: row 7\n"), all);
    assertTrue(all.contains("b2 SKIPPED "), all);
    assertTrue(all.contains("c1 LATER busy: rebuilt\n"), all);
    assertTrue(all.contains("d1 FAILED handler_failed: java.lang.IllegalStateException: a defect\n"), all);
    assertTrue(all.contains("e1 LATER the lock on e was lost"), all);
    assertEquals(5, queue.outboxRows());
    assertTrue(report.toString().startsWith("ReplayReport(replayed 1, failed 2"), report.toString());
  }

  @Test
  void onlyWhatMatchesIsReplayedAndAPreviewSaysWhat() {
    add("a1", "a", "one");
    add("a2", "a", "two");
    add("b1", "b", "two");
    ReplayOptions options = ReplayOptions.DEFAULT.types(List.of("two")).reasons(List.of("red", "other"));
    ReplayPreview preview = queue.previewReplay(options);
    assertEquals(2, preview.letters());
    assertEquals(1, preview.overtaken());
    assertEquals(FAILED, preview.oldest().orElseThrow());
    assertEquals(0, queue.previewReplay(options.until(FAILED)).letters());
    assertEquals(2, queue.previewReplay(options.since(FAILED)).letters());
    assertEquals(1, queue.previewReplay(options.max(1)).letters());
    assertEquals(1, queue.replay(client, options.ids(List.of("b1")), attempt -> { }).replayed());
    options = options.maxTries(1);
    ReplayReport report = queue.replay(client, options, attempt -> {
      throw new IllegalStateException("a defect");
    });
    assertEquals(1, report.parked());
    assertEquals(1, queue.previewReplay(options.parked(true)).letters());
    assertEquals(0, queue.replay(client, options.monitors(List.of("c")), attempt -> { }).replayed());
    assertEquals(ErrorCode.INVALID_ARGUMENT, assertThrows(RequestRejectedException.class,
        () -> queue.replay(client, ReplayOptions.DEFAULT.rate(-1), attempt -> { })).code());
    assertThrows(RequestRejectedException.class, () -> ReplayOptions.DEFAULT.concurrency(0));
  }

  @Test
  void anExecutorWorksOnSeveralMonitorsAtOnce() throws Exception {
    add("a1", "a", "save");
    add("b1", "b", "save");
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try {
      CyclicBarrier both = new CyclicBarrier(2);
      CompletableFuture<ReplayReport> end = queue.replayAsync(client, ReplayOptions.DEFAULT, threads, attempt -> {
        both.await(30, TimeUnit.SECONDS);
        attempt.checkHealth();
      });
      ReplayReport report = end.get(60, TimeUnit.SECONDS);
      assertEquals(2, report.replayed(), texts(report));
    } finally {
      threads.shutdownNow();
    }
    add("a2", "a", "save");
    ReplayReport refused = queue.replayAsync(client, ReplayOptions.DEFAULT, threads, attempt -> { })
        .get(60, TimeUnit.SECONDS);
    assertTrue(texts(refused).contains("a2 LATER overloaded: the executor has refused it"), texts(refused));
    Thread caller = Thread.currentThread();
    assertEquals(1, queue.replayAsync(client, ReplayOptions.DEFAULT, Runnable::run,
        attempt -> assertNotSame(caller, Thread.currentThread())).get(60, TimeUnit.SECONDS).replayed());
  }

  @Test
  void anInterruptionAndACancellationStopIt() throws Exception {
    add("a1", "a", "save");
    add("a2", "a", "save");
    ReplayReport report = queue.replay(client, attempt -> {
      assertEquals("a1", attempt.letter().id());
      Thread.currentThread().interrupt();
    });
    assertTrue(Thread.interrupted());
    // The letter was done before the interruption was seen; perhaps the next had begun by then, and was done, too.
    assertTrue(report.stopped() || report.replayed() == 2, report.toString());
    while (queue.outboxRows() == 0) {
      add("a3", "a", "save");
    }
    CompletableFuture<ReplayAttempt> begun = new CompletableFuture<>();
    CompletableFuture<Void> ended = new CompletableFuture<>();
    CompletableFuture<ReplayReport> end = queue.replayAsync(client, ReplayOptions.DEFAULT, task -> {
      Thread thread = new Thread(task);
      thread.setDaemon(true);
      thread.start();
    }, attempt -> {
      begun.complete(attempt);
      while (!attempt.shouldStop()) {
        Thread.onSpinWait();
      }
      ended.complete(null);
      throw new IllegalStateException("stopped");
    });
    begun.get(60, TimeUnit.SECONDS);
    assertTrue(end.cancel(false));
    ended.get(60, TimeUnit.SECONDS);
    assertEquals(1, queue.replay(client, ReplayOptions.DEFAULT.max(1), attempt -> {
      assertEquals(0, attempt.tries(), "what is stopped is not counted");
    }).replayed());
  }

  @Test
  void aHandlerMayCloseWhatItWorksWith() {
    add("a1", "a", "save");
    add("a2", "a", "save");
    ReplayReport report = queue.replay(client, attempt -> {
      client.close();
      queue.close();
      assertTrue(attempt.shouldStop());
    });
    assertEquals(0, report.replayed());
    assertTrue(report.stopped());
    assertEquals("a1", report.unresolved().get(0).id());
    assertThrows(RequestRejectedException.class, () -> queue.replay(client, attempt -> { }));
  }

  @Test
  void anotherOneAtWorkIsNamed() {
    add("a1", "a", "save");
    try (ForelockClient other = server.settings().set("zookeeper.session.timeout", "2000").build()) {
      ReplayReport report = queue.replay(client, attempt -> {
        InstanceLockException refused =
            assertThrows(InstanceLockException.class, () -> queue.replay(other, second -> { }));
        assertEquals(ErrorCode.LOCK_TIMEOUT, refused.code());
        assertTrue(refused.getMessage().contains("dead letters: replay of outbox"), refused.getMessage());
      });
      assertEquals(1, report.replayed(), texts(report));
    }
  }
}
