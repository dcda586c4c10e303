package org.forelock;

import static org.forelock.Outcomes.*;
import static org.junit.jupiter.api.Assertions.*;

import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** All of a guarded write happens while the lock is held, or nothing of it. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class GuardedWriteTest {
  private static final int ANY = WriteOperation.ANY_VERSION;
  private static final byte[] DATA = {1, 0, 2};
  @RegisterExtension
  static final TestServer.OfClass server = new TestServer.OfClass();

  @TempDir
  Path folder;

  @Test
  void eachKindOfOperationDoesWhatItSays() {
    try (ForelockClient client = server.client();
        ZkBlockingWriteLock lock = new ZkBlockingWriteLock("w", client, "k")) {
      lock.lock();
      lock.writeGuarded(List.of(WriteOperation.create("/kinds", DATA)));
      int[] versions = lock.writeGuarded(List.of(WriteOperation.check("/kinds", 0),
          WriteOperation.set("/kinds", DATA, 0), WriteOperation.set("/kinds", new byte[0], ANY)));
      assertEquals(3, versions.length);
      assertEquals(1, versions[1]);
      assertEquals(2, versions[2]);
      for (WriteOperation refused : List.of(WriteOperation.check("/kinds", 1), WriteOperation.delete("/kinds", 1))) {
        assertEquals(ErrorCode.WRITE_CONFLICT, code(() -> lock.writeGuarded(List.of(refused))));
      }
      lock.writeGuarded(List.of(WriteOperation.delete("/kinds", 2)));
      assertEquals(ErrorCode.WRITE_CONFLICT,
          code(() -> lock.writeGuarded(List.of(WriteOperation.check("/kinds", ANY)))), "it is gone");
      lock.checkHealth();
    }
  }

  @Test
  void aConflictUndoesWhatStandsBeforeIt() {
    try (ForelockClient client = server.client();
        ZkBlockingWriteLock lock = new ZkBlockingWriteLock("w", client, "c")) {
      lock.lock();
      WriteOperation create = WriteOperation.create("/conflict", DATA);
      assertEquals(ErrorCode.WRITE_CONFLICT,
          code(() -> lock.writeGuarded(List.of(create, WriteOperation.set("/missing", DATA, ANY)))));
      lock.writeGuarded(List.of(create)); // which succeeds, since it is not there
    }
  }

  @Test
  void whatIsRemovedByOthersWritesNothing() throws Exception {
    try (ForelockClient client = server.client(); ZkBlockingWriteLock lock = new ZkBlockingWriteLock("w", client, "r");
        ZkBlockingWriteLock next = new ZkBlockingWriteLock("w", client, "next")) {
      CompletableFuture<LossReason> lost = new CompletableFuture<>();
      lock.onLost(lost::complete);
      lock.lock();
      String holder = client.inspector().show("r").orElseThrow().holderNode();
      assertEquals(Inspector.ForceRelease.RELEASED, client.inspector().forceRelease("r", holder));
      assertEquals(ErrorCode.LOCK_UNHEALTHY,
          code(() -> lock.writeGuarded(List.of(WriteOperation.create("/removed", DATA)))));
      assertEquals(LossReason.REMOVED, lost.get(30, TimeUnit.SECONDS));
      next.lock();
      assertArrayEquals(new int[] {0}, next.writeGuarded(List.of(WriteOperation.create("/removed", DATA))));
    }
  }

  @Test
  void anAttemptWritesWhileItLasts() {
    Properties properties = new Properties();
    properties.setProperty("dlq.outbox.path", folder.resolve("outbox.db").toString());
    try (ForelockClient client = server.client(); DeadLetterQueue queue = new DeadLetterQueue(properties);
        OperationRunner runner = new OperationRunner(client, queue)) {
      CompletableFuture<OperationAttempt> kept = new CompletableFuture<>();
      assertTrue(runner.run(new Operation("save", "a", LockType.BACKGROUND), attempt -> {
        attempt.writeGuarded(List.of(WriteOperation.create("/attempt", DATA)));
        kept.complete(attempt);
      }).succeeded());
      assertEquals(ErrorCode.INVALID_HANDLE,
          code(() -> kept.join().writeGuarded(List.of(WriteOperation.delete("/attempt", ANY)))));
    }
  }

  @Test
  void badArgumentsAreRefused() {
    try (ForelockClient client = server.client();
        ZkBlockingWriteLock lock = new ZkBlockingWriteLock("w", client, "b")) {
      lock.lock();
      assertEquals(ErrorCode.INVALID_ARGUMENT,
          code(() -> lock.writeGuarded(List.of(WriteOperation.create("relative", DATA)))));
      assertEquals(ErrorCode.INVALID_ARGUMENT,
          code(() -> lock.writeGuarded(List.of(WriteOperation.create("/nul\0", DATA)))));
      assertThrows(NullPointerException.class, () -> WriteOperation.create("/null", null));
      lock.checkHealth();
    }
  }
}
