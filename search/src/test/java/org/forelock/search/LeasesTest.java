package org.forelock.search;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import org.forelock.ErrorCode;
import org.forelock.LockType;
import org.junit.jupiter.api.Test;

class LeasesTest {
  private final FakeLocks locks = new FakeLocks();
  private final FakeLimits limits = new FakeLimits();
  private final FakeLeaseLimits bounds = new FakeLeaseLimits();
  private final Stats stats = new Stats();
  private final HeldRequests requests = new HeldRequests(limits, stats, problem -> false, (millis, task) -> {});
  private final NodeIdentity identity = new NodeIdentity(() -> "a", (millis, task) -> {
    if (millis == 0) {
      task.run();
    }
  }, (level, text) -> {});
  private final NodeParts node = new NodeParts(limits, requests, locks, new Timeouts(limits, 1000, 1000), null, null,
      stats, null, null, () -> "node-1", identity);
  private long now = Long.MAX_VALUE - 1_000_000_000; // it wraps around within the tests
  /** What is to be done later: when, and what. */
  private final Map<Runnable, Long> timers = new HashMap<>();
  private Executor answers = Runnable::run;
  private final Leases leases = new Leases(bounds, node, task -> answers.execute(task),
      (millis, task) -> timers.put(task, now + millis * 1_000_000), () -> now);
  private final List<Object> told = new ArrayList<>();

  private Runnable take(String monitor, String keep) {
    return leases.take(LeaseRequest.parse(Map.of("monitors", List.of(monitor), "keep", keep), bounds), "task",
        (answer, problem) -> told.add(problem == null ? answer : problem));
  }

  @SuppressWarnings("unchecked")
  private String idOf(int answer) {
    return (String) ((Map<String, Object>) told.get(answer)).get("id");
  }

  private void refused(int answer, int status, String code) {
    Refusal refusal = (Refusal) told.get(answer);
    assertEquals(status + " " + code, refusal.status + " " + refusal.code);
  }

  private Map<String, Object> ask(Map<String, String> question) {
    return Leases.told(question, leases.answer(question));
  }

  private void isMissing(Map<String, String> question) {
    assertEquals(404, assertThrows(Refusal.class, () -> ask(question)).status);
  }

  private void passes(long millis) {
    long end = now + millis * 1_000_000;
    while (timers.values().stream().anyMatch(at -> at - end <= 0)) {
      Runnable next = timers.entrySet().stream().min((a, b) -> Long.signum(a.getValue() - b.getValue())).get().getKey();
      now = timers.remove(next);
      next.run();
    }
    now = end;
  }

  /** One that is held, one that waits: both end before the queue, which no late item finds closed so. */
  @Test
  void aNodeThatEndsGivesAllBackBeforeItsSessionWhateverGoesWrong() {
    take("P1", "1s");
    locks.others("P2");
    take("P2", "1s");
    List<String> ends = new ArrayList<>();
    UnguardedPeriods unguarded = new UnguardedPeriods(() -> now, () -> true, (level, text) -> {}, task -> {});
    RuntimeException broken = new IllegalStateException("the queue");
    assertEquals(broken, assertThrows(RuntimeException.class, () -> NodeEnd.close(leases, requests, () -> {
      assertFalse(locks.owners.containsKey("P1"));
      refused(1, 503, "closed");
      ends.add("queue");
      throw broken;
    }, unguarded, () -> ends.add("session"))));
    assertEquals(List.of("queue", "session"), ends);
  }

  /** Whatever names its client makes up. */
  @Test
  void noMonitorStaysBecauseOfALease() {
    take("articles/~0", "1s");
    assertEquals(List.of("+articles/~0"), locks.journal);
    assertEquals(Set.of(), locks.keptMonitors);
  }

  @Test
  void aNodeWhoseLocksExcludeTooFewGivesNone() {
    identity.use(then -> then.accept(List.of(
        new NodeIdentity.Answer("n1", "n1", "a"), new NodeIdentity.Answer("n2", "n2", "b"))));
    identity.nodesChanged();
    take("P1", "1s");
    refused(0, 503, "other_zookeeper");
    assertTrue(locks.journal.isEmpty());
  }

  @Test
  void holdsUntilItIsGivenBack() {
    take("P1", "10s");
    assertEquals("node-1", Leases.nodeOf(idOf(0)));
    assertEquals(Map.of("id", idOf(0), "tokens", Map.of("P1", "1"), "held", "{P1=1}", "keep_ms", 10_000L), told.get(0));
    assertTrue(locks.owners.containsKey("P1"));
    assertEquals(0, requests.count(LockType.FOREGROUND), "what is held waits no more");
    assertEquals(Map.of("id", idOf(0), "released", true), ask(Leases.release(idOf(0))));
    assertFalse(locks.owners.containsKey("P1"));
    isMissing(Leases.release(idOf(0)));
    isMissing(Leases.keep(idOf(0)));
    assertEquals(List.of(), leases.list().get("leases"));
  }

  @Test
  void endsWhenNobodyKeepsIt() {
    take("P1", "10s");
    passes(9999);
    assertEquals(Map.of("id", idOf(0), "kept", true, "keep_ms", 10_000L), ask(Leases.keep(idOf(0))));
    passes(9999);
    assertTrue(locks.owners.containsKey("P1"));
    ask(Leases.keep(idOf(0)));
    passes(10_001);
    assertFalse(locks.owners.containsKey("P1"));
    assertEquals(Map.of(), timers);
    isMissing(Leases.keep(idOf(0)));
  }

  @Test
  void cannotBeKeptWhenItsTimeIsOverAndNothingHasEndedItYet() {
    take("P1", "10s");
    now += 10_000_000_000L; // and no timer runs
    isMissing(Leases.keep(idOf(0)));
    isMissing(Leases.release(idOf(0)));
    assertFalse(locks.owners.containsKey("P1"));
  }

  @Test
  void isNotKeptWhileItsLocksAreNotCertain() {
    take("P1", "10s");
    locks.nanosLeft = 0;
    assertEquals(409, assertThrows(Refusal.class, () -> ask(Leases.keep(idOf(0)))).status);
    locks.nanosLeft = 1;
    ask(Leases.keep(idOf(0)));
  }

  @Test
  void waitsForOthersAndIsToldOnce() {
    locks.others("P1", "P2");
    take("P1", "1s");
    take("P2", "1s");
    assertEquals(List.of(), told);
    assertEquals(2, requests.count(LockType.FOREGROUND));
    passes(5000); // a wait is no time in which it must be kept
    locks.release("P1");
    assertTrue(idOf(0).startsWith("node-1."));
    locks.expire("P2");
    refused(1, 429, "lock_timeout");
    assertEquals(1, stats.of(LockType.FOREGROUND).get(Stats.Count.TIMED_OUT));
    assertEquals(0, requests.count(LockType.FOREGROUND));
  }

  @Test
  void aClientThatGoesLeavesTheQueue() {
    locks.others("P1");
    Runnable gone = take("P1", "1s");
    gone.run();
    refused(0, 409, "cancelled");
    assertEquals(0, requests.count(LockType.FOREGROUND));
    assertEquals(0, requests.cancel(held -> true, "by request"));
    locks.others("P1");
    take("P1", "1s");
    assertEquals(1, requests.cancel(held -> held.locks.has("P1"), "by request"), "an operator can do it, too");
    refused(1, 409, "cancelled");
  }

  @Test
  void whatItsClientWasNotToldOfIsGivenBack() {
    Runnable gone = take("P1", "1s");
    gone.run();
    assertFalse(locks.owners.containsKey("P1"));
  }

  @Test
  void thereAreNoMoreThanTheirBound() {
    locks.others("P1");
    take("P1", "1s");
    take("P2", "1s");
    take("P3", "10s");
    take("P4", "1s");
    refused(2, 429, "too_many_leases");
    passes(2000); // one is not kept
    take("P4", "1s");
    take("P5", "1s");
    refused(4, 429, "too_many_leases");
    ask(Leases.release(idOf(1)));
    take("P5", "1s");
    requests.cancel(held -> true, "by request");
    take("P6", "1s");
    assertTrue(idOf(7).startsWith("node-1."), told.toString());
  }

  @Test
  void oneThatCannotBeTakenLeavesNoPlace() {
    bounds.most = 1;
    locks.failure = ErrorCode.CONNECTION_LOSS;
    take("P1", "1s");
    refused(0, 503, "connection_loss");
    locks.failure = null;
    limits.bound(LockType.FOREGROUND, 0, 1000);
    take("P1", "1s");
    refused(1, 429, "too_many_held");
    limits.bound(LockType.FOREGROUND, 1, 1 << 20);
    take("P1", "1s");
    assertTrue(idOf(2).startsWith("node-1."));
  }

  @Test
  void aNodeThatEndsGivesThemBack() {
    take("P1", "10s");
    locks.others("P2");
    take("P2", "10s");
    List<Runnable> notDone = new ArrayList<>();
    answers = notDone::add;
    leases.close();
    assertEquals(List.of(), notDone, "who waits is answered before the node goes on to end");
    assertFalse(locks.owners.containsKey("P1"));
    refused(1, 503, "closed");
    take("P3", "10s");
    refused(2, 503, "closed");
    assertFalse(locks.owners.containsKey("P3"));
  }

  @Test
  void isListed() {
    take("P1", "10s");
    passes(4000);
    assertEquals(List.of(Map.of("id", idOf(0), "tokens", Map.of("P1", "1"), "priority", "foreground", "info", "lease",
        "held_ms", 4000L, "left_ms", 6000L)), leases.list().get("leases"));
  }

  @Test
  void anIdThatIsNoneNamesNoNode() {
    assertEquals("", Leases.nodeOf("nonsense"));
    assertEquals(404, assertThrows(Refusal.class, () -> Leases.told(Leases.keep("x.1"), null)).status);
  }
}
