package org.forelock.search;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.forelock.ErrorCode;
import org.forelock.LockType;
import org.junit.jupiter.api.Test;

class CourseTest {
  private final FakeLocks locks = new FakeLocks();
  private final FakeLimits limits = new FakeLimits();
  private final Stats stats = new Stats();
  private final List<String> log = new ArrayList<>();
  private final HeldRequests requests = new HeldRequests(limits, stats, problem -> false, (millis, task) -> {});
  /** What is to be done on a write thread. */
  private final Deque<Runnable> handedOver = new ArrayDeque<>();
  private final NodeIdentity identity = new NodeIdentity(() -> "6f1e", (millis, task) -> {
    if (millis == 0) {
      task.run();
    }
  }, (level, text) -> {});
  private final NodeParts node = new NodeParts(limits, requests, locks, new Timeouts(limits, 1000, 1000),
      new HolderLook(monitor -> "; it is held by " + monitor, Runnable::run, (millis, task) -> {}, System::nanoTime),
      null, stats, new UnguardedPeriods(System::nanoTime, () -> true, (level, text) -> {}, task -> {}),
      (task, failed) -> handedOver.add(task), () -> "here", identity);
  private final FakeWrite write = new FakeWrite();

  private final class FakeWrite implements Course.Write {
    private String guardName;
    private Guard guard;
    private Consumer<Exception> before;
    private Consumer<Exception> after;
    private Refusal refusal;
    private boolean requiresLock;
    private Runnable gone;

    @Override
    public void proceed(String name, Guard under, Consumer<Exception> first, Consumer<Exception> last) {
      log.add("written");
      guardName = name;
      guard = under;
      before = first;
      after = last;
    }

    void answered() {
      before.accept(null);
      log.add("answered");
      after.accept(null);
    }

    @Override
    public void fail(Exception problem) {
      refusal = (Refusal) problem;
      log.add(refusal.status + " " + refusal.code);
    }

    @Override
    public Course.Items kept(Map<String, Refusal> refusals) {
      return new Course.Items() {
        @Override
        public int count() {
          return refusals.size();
        }

        @Override
        public boolean all() {
          return refusals.size() == 2;
        }

        @Override
        public void leaveOut() {
          refusals.forEach((monitor, answer) ->
              log.add("without " + monitor + answer.getMessage().replaceAll(".*;", ",")));
        }

        @Override
        public void answer() {
          log.add("nothing left");
        }
      };
    }

    @Override
    public boolean requiresLock() {
      return requiresLock;
    }

    @Override
    public void report(long waitedMillis, long token) {
      log.add("token " + token);
    }

    @Override
    public void tryAgainLater() {
      log.add("later");
    }

    @Override
    public void awaitRefreshLater() {
      log.add("refresh");
    }

    @Override
    public Runnable whenClientGoes(Runnable task) {
      gone = task;
      return () -> gone = null;
    }
  }

  private void begin(String... itemMonitors) {
    begin(false, itemMonitors);
  }

  private void begin(boolean kept, String... itemMonitors) {
    WritePlan plan = new WritePlan(LockType.FOREGROUND, new TreeSet<>(List.of(itemMonitors)),
        itemMonitors.length == 1 ? null : itemMonitors, false, kept, "test", 1, 500, null, DocumentTokens.NONE);
    new Course(node, write, plan).begin(null, "test");
  }

  private void nothingIsLeft() {
    assertTrue(requests.all().isEmpty() && locks.owners.isEmpty());
    assertEquals(0, requests.count(LockType.FOREGROUND));
  }

  @Test
  void aLockThatIsFreeIsTakenInTheCallersThreadAndGivenBackBeforeTheAnswer() {
    identity.nodesChanged();
    begin("a");
    assertEquals(List.of("refresh", "written"), log);
    assertTrue(handedOver.isEmpty());
    assertEquals(Headers.UPDATE_GUARD, write.guardName);
    assertEquals("here a", write.guard.node + " " + write.guard.monitor);
    assertEquals("6f1e", write.guard.namespace);
    write.answered();
    assertEquals(List.of("+a", "-a"), locks.journal);
    assertEquals(List.of("refresh", "written", "token 1", "answered"), log);
    nothingIsLeft();
  }

  @Test
  void monitorsStayBecauseOfThePlanAndNotOfTheirNames() {
    begin("!/~0", "other");
    assertEquals(Set.of(), locks.keptMonitors);
    begin(true, "a", "b");
    assertEquals(Set.of("a", "b"), locks.keptMonitors);
  }

  @Test
  void whatIsWaitedForGoesOnOnAWriteThread() {
    locks.others("a");
    begin("a");
    assertEquals(List.of(), log);
    locks.release("a");
    assertEquals(List.of(), log, "not on the thread that tells of the grant");
    handedOver.remove().run();
    assertEquals(List.of("refresh", "written"), log);
    assertNull(write.gone, "its client may go");
  }

  @Test
  void anUpdateThatIsNotHadInTimeIsRefusedAndMayTryAgain() {
    locks.others("a");
    begin("a");
    locks.expire("a");
    handedOver.remove().run();
    assertEquals(List.of("later", "429 lock_timeout"), log);
    assertTrue(write.refusal.getMessage().contains("it is held by a"), write.refusal.getMessage());
    assertEquals(1, stats.of(LockType.FOREGROUND).get(Stats.Count.TIMED_OUT));
    locks.release("a");
    nothingIsLeft();
  }

  @Test
  void documentsThatOthersKeepAreLeftOut() {
    locks.others("a");
    begin("a", "b");
    locks.expire("a");
    handedOver.remove().run();
    assertEquals(List.of("later", "without a, it is held by a", "refresh", "written"), log);
    assertEquals(1, stats.refusedItems.sum());
    write.answered();
    locks.release("a");
    nothingIsLeft();
  }

  @Test
  void whereNothingIsLeftItIsAnswered() {
    locks.others("a", "b");
    begin("a", "b");
    locks.expire("a");
    handedOver.remove().run();
    assertEquals(List.of("later", "nothing left"), log);
    locks.release("a");
    locks.release("b");
    nothingIsLeft();
  }

  @Test
  void withoutAServerItGoesOnWhereThatIsPermitted() {
    locks.failure = ErrorCode.CONNECTION_LOSS;
    begin("a");
    assertEquals(List.of("503 connection_loss"), log);
    limits.allowUnguarded();
    begin("a");
    assertTrue(write.guard.allowed());
    write.requiresLock = true;
    begin("a");
    assertEquals(List.of("503 connection_loss", "written", "503 connection_loss"), log);
    assertEquals(1, stats.of(LockType.FOREGROUND).get(Stats.Count.ALLOWED));
  }

  @Test
  void whoseClientGoesLeavesTheQueue() {
    locks.others("a");
    begin("a");
    write.gone.run();
    assertEquals(List.of("409 cancelled"), log);
    assertTrue(requests.all().isEmpty());
  }

  @Test
  void beyondTheBoundsNothingIsHeld() {
    limits.bound(LockType.FOREGROUND, 0, Long.MAX_VALUE);
    begin("a");
    limits.bound(LockType.FOREGROUND, 1, 5);
    begin("a");
    requests.close();
    begin("a");
    assertEquals(List.of("later", "429 too_many_held", "413 too_large"), log.subList(0, 3));
    limits.bound(LockType.FOREGROUND, 1, Long.MAX_VALUE);
    begin("a");
    assertEquals("503 closed", log.get(log.size() - 1));
    nothingIsLeft();
  }
}
