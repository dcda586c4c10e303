package org.forelock;

import static org.forelock.Outcomes.*;
import static org.junit.jupiter.api.Assertions.*;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Several monitors as one lock. */
class SetsTest {
  @RegisterExtension
  static final TestServer.OfClass server = new TestServer.OfClass();
  private final String id = "set-" + UUID.randomUUID();
  private final String first = id + "-1";
  private final String second = id + "-2";
  private final String third = id + "-3";

  private static LockSet set(ForelockClient client, String... monitors) {
    return new LockSet("case", client, List.of(monitors));
  }

  private static void awaitQueue(ForelockClient client, String monitor) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (client.inspector().show(monitor).orElseThrow().queue().isEmpty()) {
      assertTrue(System.nanoTime() < end, "none waits at " + monitor);
    }
  }

  @Test
  void theInspectorTellsWhatASetHoldsAndWaitsFor() throws Exception {
    try (ForelockClient client = server.client(); LockSet set = set(client, first, second, third);
        ZkBlockingWriteLock busy = new ZkBlockingWriteLock("busy", client, second)) {
      Inspector inspector = client.inspector();
      busy.lockWithTimeout();
      CompletableFuture<LockSet> waiting = set.acquireAsync(Duration.ofMinutes(1));
      awaitQueue(client, second);
      MonitorView view = inspector.show(second).orElseThrow();
      assertEquals(view.queue().get(0).waited(), view.oldestWait().orElseThrow());
      assertTrue(inspector.show(first).orElseThrow().oldestWait().isEmpty());
      assertTrue(inspector.list(false).stream()
          .anyMatch(one -> one.monitor().equals(second) && one.oldestWait().isPresent()));
      LockSetView seen = inspector.lockSet(second, view.queue().get(0).node()).orElseThrow();
      assertEquals(3, seen.size());
      assertEquals(List.of(first, second, third), seen.members());
      assertEquals(List.of(first), seen.held());
      assertEquals(1, seen.heldCount());
      assertEquals(second, seen.waitsFor().orElseThrow());
      assertTrue(seen.behindHolder());
      assertEquals("busy", seen.holder().orElseThrow().lockInfo());
      assertEquals(LockType.FOREGROUND, seen.holderType().orElseThrow());
      assertEquals(view.holderNode(), seen.holderNode());
      assertEquals(view.holderToken(), seen.holderToken());
      assertEquals(view.holderSession(), seen.holderSession());
      assertTrue(seen.heldFor().toMillis() >= 0);
      String ofFirst = inspector.show(first).orElseThrow().holderNode();
      assertEquals(seen.id(), inspector.lockSet(first, ofFirst).orElseThrow().id());
      assertTrue(inspector.lockSet(second, view.holderNode()).isEmpty(), "a single lock");
      assertTrue(inspector.lockSet(second, "A-1").isEmpty());
      assertTrue(inspector.lockSet(id + "-nowhere", "A-1").isEmpty());
      busy.unlock();
      assertEquals(set, soon(waiting));
      seen = inspector.lockSet(third, inspector.show(third).orElseThrow().holderNode()).orElseThrow();
      assertEquals(seen.members(), seen.held());
      assertTrue(seen.waitsFor().isEmpty() && !seen.behindHolder() && seen.holder().isEmpty());
    }
  }

  @Test
  void itsPlaceIsToldWithTheMemberThatItWaitsFor() throws Exception {
    BlockingQueue<String> places = new LinkedBlockingQueue<>();
    try (ForelockClient client = server.client();
        LockSet set = set(client, first, second);
        ZkBlockingWriteLock busy = new ZkBlockingWriteLock("busy", client, second)) {
      assertEquals("case", set.owner().lockInfo());
      set.onQueued((position, monitor) -> places.add(position.place() + " at " + monitor));
      busy.lock();
      CompletableFuture<LockSet> waiting = set.acquireAsync(Duration.ofMinutes(1));
      assertEquals("1 at " + second, places.poll(30, TimeUnit.SECONDS));
      busy.unlock();
      assertEquals(set, soon(waiting));
    }
  }

  @Test
  void allMembersAreHeldAndReleased() {
    try (ForelockClient client = server.client();
        LockSet set = new LockSet("case", client, List.of(second, first, second), LockType.BACKGROUND);
        ZkBlockingWriteLock single = new ZkBlockingWriteLock("case", client, second)) {
      assertEquals(List.of(first, second), set.monitors());
      assertEquals(LockType.BACKGROUND, set.lockType());
      assertEquals("case", set.lockInfo());
      assertFalse(set.isHealthy());
      assertEquals(0, set.highestFencingToken());
      set.lockWithTimeout();
      assertTrue(set.isHealthy());
      set.checkHealth();
      assertEquals(LockState.HELD, set.state());
      assertTrue(set.expiresAtNanos() > System.nanoTime());
      assertTrue(set.timeLeft().toMillis() > 0);
      Map<String, Long> tokens = set.fencingTokens();
      assertEquals(List.of(first, second), new ArrayList<>(tokens.keySet()));
      assertTrue(tokens.get(first) > 0 && tokens.get(second) > 0);
      assertEquals(Math.max(tokens.get(first), tokens.get(second)), set.highestFencingToken());
      assertFalse(single.tryLock());
      assertTrue(set.stepAside(Duration.ofMinutes(1)));
      assertTrue(set.highestFencingToken() > tokens.get(second));
      set.unlock();
      assertEquals(ErrorCode.LOCK_UNHEALTHY, code(set::checkHealth));
      assertEquals(Duration.ZERO, set.timeLeft());
      assertThrows(NoNodeException.class, set::unlock);
      assertTrue(single.tryLock());
      assertFalse(set.tryLock(), "its second member is held");
      single.unlock();
      assertTrue(set.tryLock());
    }
  }

  @Test
  void noneIsHeldOfOneThatIsNotObtained() throws Exception {
    // Long enough that it is in the queue of the busy one by then.
    try (ForelockClient client = server.settings().set("zookeeper.foregound.task.timeout", "3000").build();
        LockSet set = set(client, first, second, third);
        ZkBlockingWriteLock busy = new ZkBlockingWriteLock("case", client, second)) {
      client.waitConnected(Duration.ofSeconds(30));
      busy.lockWithTimeout();
      InstanceLockException problem = assertThrows(InstanceLockException.class, set::lockWithTimeout);
      assertEquals(ErrorCode.LOCK_TIMEOUT, problem.code());
      assertEquals(second, problem.monitor());
      String message = problem.getMessage();
      assertTrue(message.contains("; held by " + client.status().instance() + "/"), message);
      assertTrue(message.contains(" for \"case\""), message);
      assertFalse(set.tryLock(Duration.ofMillis(20)));
      ForelockException refused = failure(set.tryLockAsync());
      assertEquals(ErrorCode.LOCK_UNAVAILABLE, refused.code());
      assertEquals(second, refused.monitor());
      assertEquals(ErrorCode.LOCK_TIMEOUT, failure(set.acquireAsync(Duration.ofMillis(20))).code());
      assertEquals(LockState.FREE, set.state());
      try (LockSet others = set(client, first, third)) {
        assertTrue(others.tryLock(Duration.ofSeconds(30)));
      }
    }
  }

  @Test
  void itIsGrantedWhenTheLastMemberIsFree() throws Exception {
    try (ForelockClient client = server.client(); LockSet set = set(client, first, second);
        LockSet next = set(client, second, third)) {
      CompletableFuture<String> contended = new CompletableFuture<>();
      set.onContended((type, monitor) -> contended.complete(type + " " + monitor));
      assertEquals(set, soon(set.acquireAsync()));
      CompletableFuture<LockSet> waiting = next.acquireAsync(Duration.ofMinutes(1));
      assertEquals("FOREGROUND " + second, soon(contended));
      assertEquals(LockState.WAITING, next.state());
      soon(set.unlockAsync());
      assertEquals(next, soon(waiting));
      assertTrue(next.isHealthy());
    }
  }

  @Test
  void waitsAreCancelledAndInterrupted() throws Exception {
    try (ForelockClient client = server.client(); LockSet set = set(client, first, second);
        ZkBlockingWriteLock busy = new ZkBlockingWriteLock("case", client, second)) {
      assertFalse(set.cancel());
      busy.lockWithTimeout();
      CompletableFuture<LockSet> future = set.acquireAsync(Duration.ofMinutes(1));
      awaitQueue(client, second);
      assertTrue(future.cancel(true));
      awaitState(set::state, LockState.FREE);

      CompletableFuture<Void> blocked = inThread(set::lock);
      awaitQueue(client, second);
      assertTrue(set.cancel());
      assertEquals(ErrorCode.CANCELLED, failure(blocked).code());

      CompletableFuture<Boolean> flag = new CompletableFuture<>();
      Thread thread = new Thread(() -> {
        assertThrows(InstanceLockException.class, set::lock);
        flag.complete(Thread.currentThread().isInterrupted());
      });
      thread.start();
      awaitQueue(client, second);
      thread.interrupt();
      assertTrue(soon(flag));
      assertEquals(LockState.FREE, set.state());

      CompletableFuture<Void> closed = inThread(set::lock);
      awaitQueue(client, second);
      set.close();
      assertEquals(ErrorCode.CANCELLED, failure(closed).code());
      try (ZkBlockingWriteLock free = new ZkBlockingWriteLock("case", client, first)) {
        assertTrue(free.tryLock(Duration.ofSeconds(30)), "what a closed set had taken is given back");
      }
    }
  }

  @Test
  void aLostMemberIsNamed() throws Exception {
    try (ForelockClient client = server.client(); LockSet set = set(client, first, second)) {
      CompletableFuture<String> lost = new CompletableFuture<>();
      set.onLost((reason, monitor) -> lost.complete(reason + " " + monitor));
      set.lockWithTimeout();
      Inspector inspector = client.inspector();
      String holder = inspector.show(second).orElseThrow().holderNode();
      assertEquals(Inspector.ForceRelease.RELEASED, inspector.forceRelease(second, holder));
      assertEquals("REMOVED " + second, soon(lost));
      assertFalse(set.isHealthy());
      assertEquals(LockState.LOST, set.state());
      assertEquals(second, assertThrows(LockUnhealthyException.class, set::checkHealth).monitor());
      assertEquals(ErrorCode.NO_NODE, code(set::unlock));
      assertTrue(set.tryLock(Duration.ofSeconds(30)));
    }
  }

  @Test
  void writesWhileAllMembersAreHeldOrNothing() {
    try (ForelockClient client = server.client(); LockSet set = set(client, first, second)) {
      String path = "/" + id;
      assertEquals(ErrorCode.LOCK_UNHEALTHY, code(() -> set.alive(Duration.ofMinutes(1))));
      set.lock();
      assertEquals(Optional.empty(), set.waitsFor());
      set.writeGuarded(List.of(WriteOperation.create(path, new byte[] {1})));
      set.alive(Duration.ofMinutes(1));
      assertEquals(1, set.writeGuarded(List.of(WriteOperation.set(path, new byte[] {2}, 0)))[0]);
      assertEquals(ErrorCode.WRITE_CONFLICT,
          code(() -> set.writeGuarded(List.of(WriteOperation.set(path, new byte[] {3}, 0)))));
      Inspector inspector = client.inspector();
      inspector.forceRelease(second, inspector.show(second).orElseThrow().holderNode());
      assertEquals(second, assertThrows(LockUnhealthyException.class,
          () -> set.writeGuarded(List.of(WriteOperation.delete(path, 1)))).monitor());
    }
  }

  @Test
  void theMemberThatItWaitsForIsNamed() throws Exception {
    try (ForelockClient client = server.client(); LockSet set = set(client, first, second);
        ZkBlockingWriteLock busy = new ZkBlockingWriteLock("case", client, second)) {
      busy.lock();
      CompletableFuture<Void> blocked = inThread(set::lock);
      awaitQueue(client, second);
      assertEquals(Optional.of(second), set.waitsFor());
      busy.unlock();
      soon(blocked);
      assertTrue(set.isHealthy());
      assertEquals(Optional.empty(), set.waitsFor());
    }
  }

  @Test
  void dangerIsToldBeforeTheLoss() throws Exception {
    try (ForelockClient client = server.client(); LockSet set = set(client, first, second)) {
      assertEquals(ErrorCode.INVALID_ARGUMENT, code(() -> set.onDanger(Duration.ZERO, () -> { })));
      CompletableFuture<Boolean> danger = new CompletableFuture<>();
      CompletableFuture<LossReason> lost = new CompletableFuture<>();
      set.onDanger(Duration.ofSeconds(1), () -> danger.complete(set.isHealthy()));
      set.onLost((reason, monitor) -> lost.complete(reason));
      set.lock();
      server.command("stall");
      try {
        assertTrue(soon(danger));
        assertEquals(LossReason.DEADLINE_PASSED, soon(lost));
      } finally {
        server.command("flow");
      }
    }
  }

  @Test
  void anExpiredSessionTakesAllMembers() throws Exception {
    try (ForelockClient client = server.client(); LockSet set = set(client, first, second)) {
      CompletableFuture<LossReason> lost = new CompletableFuture<>();
      set.onLost((reason, monitor) -> lost.complete(reason));
      set.lock();
      server.command("expire " + client.status().sessionId());
      assertEquals(LossReason.SESSION_EXPIRED, soon(lost));
      assertThrows(SessionExpiredException.class, set::unlock);
      assertTrue(set.tryLock(Duration.ofMinutes(1)));
    }
  }

  @Test
  void misuseIsRefused() {
    ForelockClient client = server.client();
    assertEquals(ErrorCode.INVALID_ARGUMENT, code(() -> set(client)));
    assertEquals(ErrorCode.INVALID_ARGUMENT, code(() -> set(client, first, "")));
    List<String> many = new ArrayList<>();
    for (int i = 0; i <= LockSet.MAX_MEMBERS; ++i) {
      many.add(id + i);
    }
    assertEquals(ErrorCode.INVALID_ARGUMENT, code(() -> new LockSet("case", client, many)));
    assertThrows(NullPointerException.class, () -> new LockSet("case", client, List.of(first), null));

    LockSet held = set(client, first, second);
    held.lockWithTimeout();
    assertEquals(ErrorCode.ALREADY_HELD, code(held::lockWithTimeout));
    assertEquals(ErrorCode.ALREADY_HELD, code(held::tryLock));
    LockSet freed = set(client, third);
    freed.close();
    freed.close();
    assertFalse(freed.isHealthy());
    assertEquals(0, freed.expiresAtNanos());
    assertEquals(LockState.FREE, freed.state());
    assertEquals(ErrorCode.INVALID_HANDLE, code(freed::lockWithTimeout));
    assertEquals(ErrorCode.INVALID_HANDLE, code(freed::unlock));
    assertEquals(ErrorCode.INVALID_HANDLE, code(freed::acquireAsync));
    assertEquals(ErrorCode.INVALID_HANDLE, code(freed::checkHealth));
    assertEquals(ErrorCode.INVALID_HANDLE, code(freed::cancel));
    client.close();
    assertFalse(held.isHealthy());
    assertEquals(ErrorCode.NO_NODE, code(held::unlock));
    assertEquals(ErrorCode.CLOSED, code(held::lockWithTimeout));
    assertEquals(ErrorCode.CLOSED, code(held::tryLock));
  }

  @Test
  void partsFollowTheOrderInWhichSetsTakeTheirMembers() {
    List<String> ids = List.of("b", "a", "a", "B", "a/b", "a.b", "a0", "ä", "zookeeper", "zoo", ".", "..", "%", "~",
        "\u007f", "\ue000", "\uffee", "\uffff", "\ud83d\ude00", "z\ud83d\ude00", "\u0001", "-", "a b");
    try (ForelockClient client = ForelockClient.builder().servers("127.0.0.1:1").build();
        LockSet set = new LockSet("order", client, ids)) {
      List<String> order = new ArrayList<>();
      for (List<String> part : CanonicalOrder.parts(ids, 4)) {
        assertTrue(part.size() <= 4);
        order.addAll(part);
      }
      assertEquals(set.monitors(), order);
    }
    List<String> many = new ArrayList<>();
    for (int i = 0; i < 2 * LockSet.MAX_MEMBERS + 1; ++i) {
      many.add("m" + i);
    }
    assertEquals(List.of(LockSet.MAX_MEMBERS, LockSet.MAX_MEMBERS, 1),
        List.of(LockSet.split(many).get(0).size(), LockSet.split(many).get(1).size(),
            LockSet.split(many).get(2).size()));
    assertEquals(List.of(), LockSet.split(List.of()));
  }
}
