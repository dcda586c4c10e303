package org.forelock;

import static org.forelock.Outcomes.*;
import static org.junit.jupiter.api.Assertions.*;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The list of cases that every language passes (docs/embedding.md). */
class CasesTest {
  @RegisterExtension
  static final TestServer.OfClass server = new TestServer.OfClass();
  private final String monitor = "java-" + UUID.randomUUID();

  private ZkBlockingWriteLock lock(ForelockClient client, LockType type) {
    return new ZkBlockingWriteLock("case", client, monitor, type);
  }

  @Test
  void blocking() {
    try (ForelockClient client = server.client()) {
      ZkBlockingWriteLock lock = new ZkBlockingWriteLock("case", client, monitor);
      assertFalse(lock.isHealthy());
      assertTrue(client.inspector().holder(monitor).isEmpty());
      lock.lockWithTimeout();
      assertTrue(lock.isHealthy());
      lock.checkHealth();
      long token = lock.fencingToken();
      assertTrue(token > 0);
      assertEquals(token, client.inspector().holder(monitor).orElseThrow().holderToken());
      assertTrue(lock.expiresAtNanos() > System.nanoTime());
      assertTrue(lock.timeLeft().toMillis() > 0);
      assertEquals(LockState.HELD, lock.state());
      assertEquals("case", lock.owner().lockInfo());
      assertEquals(ErrorCode.ALREADY_HELD, code(lock::lockWithTimeout));
      lock.unlock();
      assertEquals(ErrorCode.LOCK_UNHEALTHY, code(lock::checkHealth));
      assertThrows(NoNodeException.class, lock::unlock);
      assertTrue(lock.tryLock());
      assertTrue(lock.fencingToken() > token);
      lock.close();
      lock.close();
      assertFalse(lock.isHealthy());
      assertEquals(ErrorCode.INVALID_HANDLE, code(lock::lockWithTimeout));
    }
  }

  @Test
  void timedOut() throws Exception {
    try (ForelockClient client = server.client(); ZkBlockingWriteLock holder = lock(client, LockType.FOREGROUND);
        ZkBlockingWriteLock waiter = lock(client, LockType.FOREGROUND)) {
      holder.lockWithTimeout();
      InstanceLockException problem = assertThrows(InstanceLockException.class, waiter::lockWithTimeout);
      assertEquals(ErrorCode.LOCK_TIMEOUT, problem.code());
      assertEquals(monitor, problem.monitor());
      String held = "; held by " + client.status().instance() + "/";
      assertTrue(problem.getMessage().contains(held), problem.getMessage());
      assertTrue(problem.getMessage().matches(".* for \"case\" \\(foreground\\) since 20.*Z \\(\\d+\\.\\d s\\)"),
          problem.getMessage());
      assertTrue(problem.retryable());
      assertFalse(problem.hint().isEmpty());
      assertFalse(waiter.tryLock());
      assertFalse(waiter.tryLock(Duration.ofMillis(20)));
      CompletableFuture<ZkBlockingWriteLock> future = waiter.acquireAsync(Duration.ofMillis(20));
      ExecutionException async = assertThrows(ExecutionException.class, () -> soon(future));
      assertEquals(ErrorCode.LOCK_TIMEOUT, ((ForelockException) async.getCause()).code());
    }
  }

  @Test
  void asynchronousAttempt() throws Exception {
    try (ForelockClient client = server.client(); ZkBlockingWriteLock holder = lock(client, LockType.FOREGROUND);
        ZkBlockingWriteLock other = lock(client, LockType.FOREGROUND)) {
      assertEquals(holder, soon(holder.tryLockAsync()));
      assertTrue(holder.isHealthy());
      ExecutionException refused = assertThrows(ExecutionException.class, () -> soon(other.tryLockAsync()));
      assertEquals(ErrorCode.LOCK_UNAVAILABLE, ((ForelockException) refused.getCause()).code());
      assertEquals(LockState.FREE, other.state());
    }
  }

  @Test
  void cancelled() throws Exception {
    try (ForelockClient client = server.client(); ZkBlockingWriteLock holder = lock(client, LockType.FOREGROUND);
        ZkBlockingWriteLock waiter = lock(client, LockType.FOREGROUND)) {
      assertFalse(waiter.cancel());
      holder.lockWithTimeout();
      CompletableFuture<ZkBlockingWriteLock> future = waiter.acquireAsync(Duration.ofMinutes(1));
      assertTrue(future.cancel(true));
      awaitState(waiter::state, LockState.FREE);
      CompletableFuture<Void> blocked = inThread(waiter::lock);
      awaitState(waiter::state, LockState.WAITING);
      assertTrue(waiter.cancel());
      assertEquals(ErrorCode.CANCELLED, failure(blocked).code());
      CompletableFuture<Void> closed = inThread(waiter::lock);
      awaitState(waiter::state, LockState.WAITING);
      waiter.close();
      assertEquals(ErrorCode.CANCELLED, failure(closed).code());
    }
  }

  @Test
  void foregroundFirst() throws Exception {
    try (ForelockClient client = server.client(); ZkBlockingWriteLock holder = lock(client, LockType.FOREGROUND);
        ZkBlockingWriteLock background = lock(client, LockType.BACKGROUND);
        ZkBlockingWriteLock foreground = lock(client, LockType.FOREGROUND)) {
      CompletableFuture<LockType> contended = new CompletableFuture<>();
      holder.onContended(contended::complete);
      holder.lockWithTimeout();
      CompletableFuture<ZkBlockingWriteLock> second = queued(background);
      assertEquals(LockType.BACKGROUND, soon(contended));
      CompletableFuture<ZkBlockingWriteLock> first = queued(foreground);
      MonitorView view = client.inspector().show(monitor).orElseThrow();
      assertTrue(view.held());
      assertEquals("case", view.owner().orElseThrow().lockInfo());
      assertEquals(List.of(LockType.FOREGROUND, LockType.BACKGROUND),
          List.of(view.queue().get(0).lockType().orElseThrow(), view.queue().get(1).lockType().orElseThrow()));
      holder.unlockAsync();
      assertEquals(foreground, soon(first));
      assertFalse(second.isDone());
      foreground.unlock();
      assertEquals(background, soon(second));
      assertTrue(client.inspector().list(false).stream().anyMatch(one -> one.monitor().equals(monitor)));
    }
  }

  @Test
  void prioritySet() throws Exception {
    try (ForelockClient client = server.client(); ZkBlockingWriteLock holder = lock(client, LockType.FOREGROUND);
        ZkBlockingWriteLock bulk = lock(client, LockType.BACKGROUND);
        ZkBlockingWriteLock moved = lock(client, LockType.BACKGROUND);
        LockSet set = new LockSet("case", client, List.of(monitor), LockType.BACKGROUND)) {
      holder.lockWithTimeout();
      assertFalse(holder.setPriority(LockType.BACKGROUND));
      assertEquals(LockType.FOREGROUND, holder.lockType());
      CompletableFuture<ZkBlockingWriteLock> last = queued(bulk);
      CompletableFuture<ZkBlockingWriteLock> first = queued(moved);
      CompletableFuture<LockSet> second = set.acquireAsync(Duration.ofMinutes(1));
      waitUntilWaiting(client, 0, 3);
      assertTrue(moved.setPriority(LockType.FOREGROUND));
      waitUntilWaiting(client, 1, 2);
      assertTrue(set.setPriority(LockType.FOREGROUND));
      waitUntilWaiting(client, 2, 1);
      assertEquals(LockType.FOREGROUND, moved.lockType());
      assertEquals(LockType.FOREGROUND, set.lockType());
      assertEquals(LockType.FOREGROUND, moved.owner().lockType());
      holder.unlock();
      assertEquals(moved, soon(first));
      assertFalse(second.isDone());
      moved.unlock();
      assertEquals(set, soon(second));
      assertFalse(last.isDone());
      assertFalse(set.setPriority(LockType.BACKGROUND));
      set.unlock();
      assertEquals(bulk, soon(last));
    }
  }

  @Test
  void queueMax() throws Exception {
    try (ForelockClient client = server.client(); ZkBlockingWriteLock holder = lock(client, LockType.FOREGROUND)) {
      holder.lockWithTimeout();
      LockOptions any = LockOptions.NONE.queueMax(LockOptions.UNLIMITED).refuseInVain(false);
      LockOptions few = LockOptions.NONE.queueMax(1).refuseInVain(true);
      ZkBlockingWriteLock waits = new ZkBlockingWriteLock("case", client, monitor, LockType.FOREGROUND, any);
      CompletableFuture<ZkBlockingWriteLock> waited = queued(waits);
      ZkBlockingWriteLock refused = new ZkBlockingWriteLock("case", client, monitor, LockType.FOREGROUND, few);
      assertEquals(ErrorCode.LOCK_REFUSED,
          assertThrows(InstanceLockException.class, refused::lockWithTimeout).code());
      assertThrows(RequestRejectedException.class, () -> new LockSet("case", client, List.of(monitor),
          LockType.FOREGROUND, LockOptions.NONE.queueMax(-2)));
      holder.unlock();
      assertEquals(waits, soon(waited));
      waits.close();
    }
  }

  @Test
  void lockInside() throws Exception {
    String outerMonitor = monitor + "+";
    try (ForelockClient client = server.client(); ZkBlockingWriteLock holder = lock(client, LockType.FOREGROUND);
        ZkBlockingWriteLock bulk = lock(client, LockType.BACKGROUND);
        ZkBlockingWriteLock inner = lock(client, LockType.BACKGROUND);
        ZkBlockingWriteLock later = lock(client, LockType.FOREGROUND);
        LockSet outer = new LockSet("case", client, List.of(outerMonitor), LockType.BACKGROUND);
        ZkBlockingWriteLock save = new ZkBlockingWriteLock("case", client, outerMonitor, LockType.FOREGROUND)) {
      holder.lockWithTimeout();
      outer.lockWithTimeout();
      inner.inside(outer);
      CompletableFuture<ZkBlockingWriteLock> last = queued(bulk);
      CompletableFuture<ZkBlockingWriteLock> first = queued(inner);
      waitUntilWaiting(client, 0, 2);
      CompletableFuture<ZkBlockingWriteLock> saved = save.acquireAsync(Duration.ofMinutes(1));
      String bulkNode = client.inspector().show(monitor).orElseThrow().queue().get(0).node();
      while (bulkNode.equals(client.inspector().show(monitor).orElseThrow().queue().get(0).node())) {
        assertFalse(first.isDone());
      }
      CompletableFuture<ZkBlockingWriteLock> second = queued(later);
      holder.unlock();
      assertEquals(inner, soon(first));
      assertEquals(LockType.BACKGROUND, inner.owner().lockType());
      assertFalse(second.isDone());
      inner.unlock();
      outer.unlock();
      assertEquals(save, soon(saved));
      assertEquals(later, soon(second));
      later.unlock();
      assertEquals(bulk, soon(last));
      save.inside(bulk);
      outer.inside(bulk);
      outer.inside(outer);
    }
  }

  private void waitUntilWaiting(ForelockClient client, long foreground, long background) {
    MonitorView view;
    do {
      view = client.inspector().show(monitor).orElseThrow();
    } while (view.waitingForeground() != foreground || view.waitingBackground() != background);
  }

  @Test
  void lostByAStall() throws Exception {
    try (ForelockClient client = server.client()) {
      ZkBlockingWriteLock lock = lock(client, LockType.FOREGROUND);
      CompletableFuture<LossReason> lost = new CompletableFuture<>();
      CompletableFuture<Void> danger = new CompletableFuture<>();
      lock.onLost(lost::complete);
      lock.onDanger(Duration.ofMillis(500), () -> danger.complete(null));
      lock.lockWithTimeout();
      server.command("stall");
      try {
        soon(danger);
        assertEquals(LossReason.DEADLINE_PASSED, soon(lost));
        assertFalse(lock.isHealthy());
        assertEquals(LockState.LOST, lock.state());
      } finally {
        server.command("flow");
      }
      assertEquals(ErrorCode.NO_NODE, assertThrows(NoNodeException.class, lock::unlock).code());
    }
  }

  @Test
  void removed() throws Exception {
    try (ForelockClient client = server.client()) {
      ZkBlockingWriteLock lock = lock(client, LockType.FOREGROUND);
      CompletableFuture<LossReason> lost = new CompletableFuture<>();
      lock.onLost(lost::complete);
      lock.lockWithTimeout();
      Inspector inspector = client.inspector();
      String holder = inspector.show(monitor).orElseThrow().holderNode();
      assertEquals(Inspector.ForceRelease.RELEASED, inspector.forceRelease(monitor, holder));
      assertEquals(LossReason.REMOVED, soon(lost));
      assertEquals(ErrorCode.NO_NODE, assertThrows(NoNodeException.class, lock::unlock).code());
    }
  }

  @Test
  void expired() throws Exception {
    try (ForelockClient client = server.client()) {
      ZkBlockingWriteLock lock = lock(client, LockType.FOREGROUND);
      CompletableFuture<LossReason> lost = new CompletableFuture<>();
      lock.onLost(lost::complete);
      lock.lockWithTimeout();
      server.command("expire " + client.status().sessionId());
      assertEquals(LossReason.SESSION_EXPIRED, soon(lost));
      assertThrows(SessionExpiredException.class, lock::unlock);
      assertTrue(lock.tryLock(Duration.ofMinutes(1)));
    }
  }

  @Test
  void closed() throws Exception {
    ForelockClient client = server.client();
    ZkBlockingWriteLock lock = lock(client, LockType.FOREGROUND);
    ZkBlockingWriteLock waiter = lock(client, LockType.BACKGROUND);
    CompletableFuture<LossReason> lost = new CompletableFuture<>();
    lock.onLost(lost::complete);
    lock.lockWithTimeout();
    CompletableFuture<ZkBlockingWriteLock> waiting = waiter.acquireAsync(Duration.ofMinutes(1));
    client.close();
    client.close();
    assertEquals(LossReason.CLOSED, soon(lost));
    ExecutionException problem = assertThrows(ExecutionException.class, () -> soon(waiting));
    assertEquals(ErrorCode.CLOSED, ((ForelockException) problem.getCause()).code());
    assertFalse(lock.isHealthy());
    assertEquals(ErrorCode.NO_NODE, code(lock::unlock));
    assertEquals(ErrorCode.CLOSED, code(lock::lockWithTimeout));
    assertEquals(ErrorCode.CLOSED, code(() -> client.inspector().list(false)));
  }

  @Test
  void guardedWrite() {
    try (ForelockClient client = server.client(); ZkBlockingWriteLock lock = lock(client, LockType.BACKGROUND)) {
      lock.lockWithTimeout();
      String path = "/data-" + monitor;
      List<WriteOperation> writes =
          List.of(WriteOperation.create(path, new byte[] {1}), WriteOperation.set(path, new byte[] {2, 3}, 0));
      assertEquals(1, lock.writeGuarded(writes)[1]);
      assertEquals(ErrorCode.WRITE_CONFLICT, code(() -> lock.writeGuarded(writes)));
      lock.alive(Duration.ofSeconds(5));
      assertEquals(Duration.ofSeconds(5), lock.owner().expectedRuntime().orElseThrow());
      assertTrue(lock.stepAside(Duration.ofMinutes(1)));
      lock.unlock();
      assertEquals(ErrorCode.LOCK_UNHEALTHY, code(() -> lock.writeGuarded(writes)));
    }
  }

  @Test
  void expectedWait() throws Exception {
    try (ForelockClient client = server.client()) {
      ZkBlockingWriteLock holder = lock(client, LockType.BACKGROUND);
      holder.lockWithTimeout();
      List<CompletableFuture<Void>> line = new ArrayList<>();
      for (int i = 0; i < 20; ++i) {
        ZkBlockingWriteLock lock = lock(client, LockType.BACKGROUND);
        CompletableFuture<QueuePosition> place = new CompletableFuture<>();
        lock.onQueued(place::complete);
        line.add(lock.acquireAsync(Duration.ofMinutes(1)).thenCompose(ZkBlockingWriteLock::unlockAsync));
        assertTrue(soon(place).expectedWait().isEmpty(), "nothing is known yet");
      }
      holder.unlock();
      for (CompletableFuture<Void> served : line) {
        soon(served);
      }
      holder.lockWithTimeout();
      ZkBlockingWriteLock next = lock(client, LockType.BACKGROUND);
      CompletableFuture<QueuePosition> place = new CompletableFuture<>();
      next.onQueued(place::complete);
      CompletableFuture<ZkBlockingWriteLock> last = next.acquireAsync(Duration.ofMinutes(1));
      assertTrue(soon(place).expectedWait().isPresent());
      holder.unlock();
      soon(last).unlock();
    }
  }

  @Test
  void holderToken() {
    try (ForelockClient client = server.client(); ForelockClient other = server.client()) {
      Inspector reader = other.inspector();
      ZkBlockingWriteLock lock = new ZkBlockingWriteLock("case", client, monitor);
      Duration minute = Duration.ofMinutes(1);
      assertEquals(0, reader.holderToken(monitor, minute).token());
      lock.lockWithTimeout();
      assertTrue(reader.knownHolderToken(monitor, minute).isEmpty());
      assertEquals(lock.fencingToken(), reader.holderToken(monitor, minute).token());
      HolderToken known = reader.knownHolderToken(monitor, minute).orElseThrow();
      assertEquals(lock.fencingToken(), known.token());
      assertTrue(known.age().compareTo(minute) < 0);
      assertTrue(reader.knownHolderToken(monitor, Duration.ZERO).isEmpty());
      lock.unlock();
      lock.lockWithTimeout();
      assertTimeout(Duration.ofSeconds(30), () -> {
        while (reader.holderToken(monitor, minute).token() != lock.fencingToken()) {
          Thread.onSpinWait();
        }
      });
      lock.unlock();
    }
  }

  @Test
  void identity() {
    try (ForelockClient first = server.settings().build(); ForelockClient second = server.settings().build();
        ForelockClient other = server.settings().servers(server.address() + "/other").build()) {
      String identity = first.inspector().identity();
      assertFalse(identity.isEmpty());
      assertEquals(identity, second.inspector().identity());
      assertNotEquals(identity, other.inspector().identity());
    }
  }

  @Test
  void ownGrant() {
    Duration time = Duration.ofMinutes(1);
    try (ForelockClient client = server.settings().set("zookeeper.lock.linger", "60000").build()) {
      client.waitConnected(Duration.ofSeconds(30));
      ZkBlockingWriteLock lock = lock(client, LockType.BACKGROUND);
      lock.lockWithTimeout();
      assertEquals(time, lock.owner().linger().orElseThrow());
      lock.unlock();
      MonitorView view = client.inspector().show(monitor).orElseThrow();
      assertEquals(time, view.owner().orElseThrow().linger().orElseThrow());
      LockOptions options = LockOptions.NONE.mayLinger(false);
      try (ZkBlockingWriteLock own = new ZkBlockingWriteLock("own", client, monitor, LockType.BACKGROUND, options)) {
        own.lockWithTimeout();
        assertTrue(own.fencingToken() > lock.fencingToken());
        assertTrue(own.owner().linger().isEmpty());
        assertTrue(own.owner().alertAt().isEmpty());
        own.unlock();
      }
      try (LockSet set = new LockSet("own", client, List.of(monitor), LockType.BACKGROUND, options)) {
        set.lockWithTimeout();
        set.unlock();
      }
      assertEquals(0, client.status().lingering());
      assertEquals(0, client.status().takenAgain());
    }
  }

  private void saveContent(ZkBlockingWriteLock lock) {
    lock.lockWithTimeout();
  }

  @Test
  void stack() throws Exception {
    try (ForelockClient client = server.client(); ZkBlockingWriteLock lock = lock(client, LockType.BACKGROUND)) {
      saveContent(lock);
      List<String> frames = client.inspector().show(monitor).orElseThrow().owner().orElseThrow().stack();
      String file = "(CasesTest.java:";
      assertTrue(frames.get(0).startsWith("org.forelock.CasesTest.saveContent" + file), frames::toString);
      assertTrue(frames.get(1).startsWith("org.forelock.CasesTest.stack" + file), frames::toString);
      assertTrue(frames.size() <= 8, frames::toString);
      lock.unlock();
      soon(lock.acquireAsync());
      assertTrue(lock.owner().stack().get(0).startsWith("org.forelock.CasesTest.stack"), "the caller, not the future");
      lock.unlock();
      lock.asLock().lock();
      assertTrue(lock.owner().stack().get(0).startsWith("org.forelock.CasesTest.stack"));
      lock.unlock();
      try (LockSet set = new LockSet("set", client, List.of(monitor, monitor + "2"), LockType.BACKGROUND)) {
        set.lockWithTimeout();
        OwnerRecord member = client.inspector().show(monitor + "2").orElseThrow().owner().orElseThrow();
        assertTrue(member.stack().get(0).startsWith("org.forelock.CasesTest.stack"));
        set.unlock();
      }
      LockOptions without = LockOptions.NONE.captureStack(false);
      try (ZkBlockingWriteLock quiet = new ZkBlockingWriteLock("q", client, monitor, LockType.BACKGROUND, without)) {
        quiet.lockWithTimeout();
        assertEquals(List.of(), quiet.owner().stack());
      }
    }
  }

  /** Where locks linger, a record may be of a section that has ended. */
  @Test
  void aLockThatMayLingerHasAStackWhereItIsAskedFor() {
    try (ForelockClient client = server.settings().set("zookeeper.lock.linger", "60000").build()) {
      client.waitConnected(Duration.ofSeconds(30));
      LockOptions any = LockOptions.NONE;
      LockOptions[] options = {any, any.mayLinger(false), any.captureStack(true)};
      boolean[] expected = {false, true, true};
      for (int i = 0; i < options.length; ++i) {
        try (ZkBlockingWriteLock lock =
            new ZkBlockingWriteLock("case", client, monitor + i, LockType.FOREGROUND, options[i])) {
          lock.lock();
          assertEquals(expected[i], !lock.owner().stack().isEmpty());
        }
      }
    }
  }

  @Test
  void whatHasLingeredIsHeldAtOnce() {
    Duration timeout = Duration.ofMinutes(1);
    try (ForelockClient client = server.settings().set("zookeeper.lock.linger", "60000").build();
        ZkBlockingWriteLock lock = lock(client, LockType.BACKGROUND);
        LockSet set = new LockSet("set", client, List.of(monitor, monitor + "2"), LockType.BACKGROUND)) {
      client.waitConnected(Duration.ofSeconds(30));
      set.lockWithTimeout();
      set.unlock();
      assertSame(set, set.acquireAsync(timeout, Runnable::run).getNow(null));
      set.unlock();
      assertSame(lock, lock.acquireAsync(timeout, Runnable::run).getNow(null));
      assertTrue(lock.isHealthy());
      assertThrows(RequestRejectedException.class, () -> lock.acquireAsync(timeout, Runnable::run));
      lock.unlock();
      List<Runnable> later = new ArrayList<>();
      CompletableFuture<ZkBlockingWriteLock> cancelled = lock.acquireAsync(timeout, later::add);
      assertTrue(cancelled.cancel(false));
      assertEquals(LockState.HELD, lock.state());
      later.get(0).run();
      assertEquals(LockState.FREE, lock.state());
    }
  }

  @Test
  void heldHeader() {
    try (ForelockClient client = server.client();
        ZkBlockingWriteLock lock = new ZkBlockingWriteLock("case", client, "Gr\u00f6\u00dfe/1, 2=3%");
        LockSet set = new LockSet("case", client, List.of("P 2", "P1"))) {
      assertEquals(ErrorCode.INVALID_ARGUMENT, code(lock::heldHeader));
      assertEquals(ErrorCode.INVALID_ARGUMENT, code(set::heldHeader));
      lock.lock();
      set.lock();
      assertEquals("Gr%C3%B6%C3%9Fe%2F1%2C%202%3D3%25=" + lock.fencingToken(), lock.heldHeader());
      Map<String, Long> tokens = set.fencingTokens();
      assertEquals("P%202=" + tokens.get("P 2") + ", P1=" + tokens.get("P1"), set.heldHeader());
    }
  }

  @Test
  void settingsAreRefusedByName() {
    ConfigurationException problem = assertThrows(ConfigurationException.class,
        () -> ForelockClient.builder().set("zookeeper.sesion.timeout", "1").build());
    assertTrue(problem.getMessage().contains("zookeeper.session.timeout"), problem.getMessage());
    java.util.Properties shared = new java.util.Properties();
    shared.setProperty("host.application.key", "ä = \n x");
    shared.setProperty("zookeeper.servers", server.address());
    try (ForelockClient client = new ForelockClient(shared)) {
      client.waitConnected(Duration.ofSeconds(30));
      assertTrue(client.status().connected());
    }
  }
}
