package org.forelock.search;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.forelock.ErrorCode;
import org.forelock.LockType;
import org.forelock.TestFailures;
import org.forelock.search.HeldRequests.Admission;
import org.junit.jupiter.api.Test;

class HeldRequestsTest {
  private static final Shard SHARD = new Shard("articles", "uuid", 0);

  private final FakeLocks source = new FakeLocks();
  private final List<Exception> answers = new ArrayList<>();
  private final Stats stats = new Stats();
  private final List<Runnable> later = new ArrayList<>();
  private final HeldRequests requests = new HeldRequests(new FakeLimits().bound(LockType.FOREGROUND, 3, 100)
      .bound(LockType.BACKGROUND, 2, 50), stats, problem -> problem instanceof Answered,
      (millis, task) -> later.add(task));

  /** What the node of the primary has answered. */
  private static final class Answered extends RuntimeException {
    private static final long serialVersionUID = 1;
  }

  private HeldRequest request(LockType type, long bytes) {
    DocumentLocks locks = new DocumentLocks(source, "test", List.of("m" + bytes), type, false, System::nanoTime);
    return new HeldRequest(requests.nextTicket(), null, "test", type, locks, bytes, System.nanoTime(), answers::add);
  }

  private Admission admit(LockType type, long bytes) {
    return requests.admit(request(type, bytes));
  }

  @Test
  void backgroundGivesWayFirst() {
    assertEquals(Admission.ADMITTED, admit(LockType.BACKGROUND, 1));
    assertEquals(Admission.ADMITTED, admit(LockType.FOREGROUND, 1));
    assertEquals(Admission.TOO_MANY, admit(LockType.BACKGROUND, 1));
    assertEquals(Admission.ADMITTED, admit(LockType.FOREGROUND, 1));
    assertEquals(Admission.TOO_MANY, admit(LockType.FOREGROUND, 1));
    assertEquals(2, requests.count(LockType.FOREGROUND));
  }

  @Test
  void bytesAreBoundedToo() {
    assertEquals(Admission.ADMITTED, admit(LockType.BACKGROUND, 1));
    assertEquals(Admission.TOO_MANY, admit(LockType.BACKGROUND, 50));
    assertEquals(Admission.ADMITTED, admit(LockType.FOREGROUND, 60));
    assertEquals(Admission.TOO_MANY, admit(LockType.FOREGROUND, 41));
    assertEquals(61, requests.mostBytes());
  }

  @Test
  void whatIsMoreThanTheBoundByItselfIsNotToldToTryAgain() {
    assertEquals(Admission.TOO_LARGE, admit(LockType.BACKGROUND, 51));
    assertEquals(Admission.TOO_LARGE, admit(LockType.FOREGROUND, 101));
    assertEquals(Admission.ADMITTED, admit(LockType.FOREGROUND, 100));
    String message = Refusals.tooLarge(LockType.BACKGROUND, 51, 50).getMessage();
    assertTrue(message.contains("forelock.background.max_bytes"), message);
  }

  @Test
  void aRequestEndsOnce() {
    HeldRequest request = request(LockType.FOREGROUND, 1);
    requests.admit(request);
    assertTrue(requests.run(request));
    assertFalse(requests.refuse(request, new Exception()), "it is being done");
    assertEquals(0, requests.count(LockType.FOREGROUND));
    assertEquals(request, requests.get(request.ticket), "a primary may ask for it");
    requests.end(request);
    requests.end(request);
    assertTrue(requests.all().isEmpty());
    assertEquals(List.of(), answers);
  }

  /** The promise of an hour to another node, and whether the locks stay when the write ends so. */
  private boolean locksStay(boolean asked, boolean sentAgain, Exception problem) {
    HeldRequest request = request(LockType.FOREGROUND, 1);
    requests.admit(request);
    request.locks.acquire(0, failure -> {}, defect -> {});
    requests.run(request);
    int attempt = request.nextAttempt(SHARD);
    if (sentAgain) {
      attempt = request.nextAttempt(SHARD);
    }
    if (asked) {
      assertEquals(source.nanosLeft, request.promise(SHARD, attempt));
    }
    assertTrue(requests.end(request, problem));
    boolean stay = source.owners.containsKey("m1");
    assertEquals(stay, requests.hasPromised());
    assertEquals(0, request.promise(SHARD, attempt), "nothing is promised after its end");
    assertEquals(stay ? 1 : 0, later.size());
    later.forEach(Runnable::run);
    later.clear();
    assertTrue(source.owners.isEmpty());
    assertTrue(requests.all().isEmpty());
    return stay;
  }

  @Test
  void locksStayAsLongAsAnotherNodeMayGoOnUnderThem() {
    Exception unknown = new IllegalStateException("the connection is gone");
    assertTrue(locksStay(true, false, unknown));
    assertFalse(locksStay(false, false, unknown), "no other node has asked");
    assertFalse(locksStay(true, false, null));
    assertFalse(locksStay(true, true, null), "the latest attempt has ended those before it");
    assertFalse(locksStay(true, false, new Answered()));
  }

  /** What has no lock can lose none: no session stays for it, and no request. */
  @Test
  void nothingIsPromisedWhereNoLockIsHeld() {
    source.others("m1");
    HeldRequest request = request(LockType.FOREGROUND, 1);
    requests.admit(request);
    request.locks.acquire(0, failure -> {}, defect -> {});
    assertEquals(Set.of("m1"), request.locks.refused().keySet());
    requests.run(request);
    assertEquals(HeldRequest.WITHOUT_LOCK_NANOS, request.promise(), "it goes on");
    assertFalse(requests.hasPromised());
    assertTrue(requests.end(request, new IllegalStateException("the connection is gone")));
    assertTrue(requests.all().isEmpty());
    assertEquals(0, request.promise());
  }

  /** What refuses it may not have let it come so far as to end the attempt before. */
  @Test
  void locksStayWhereAnotherAttemptIsRefused() {
    assertTrue(locksStay(true, true, new Answered()));
  }

  @Test
  void whatFailsIsAnsweredOnceAndGivesItsLocksBack() {
    for (boolean running : new boolean[] {false, true}) {
      answers.clear();
      HeldRequest request = request(LockType.FOREGROUND, 1);
      requests.admit(request);
      request.locks.acquire(0, problem -> {}, defect -> {});
      if (running) {
        requests.run(request);
      }
      requests.fail(request, new IllegalStateException());
      requests.fail(request, new IllegalStateException());
      assertEquals(1, answers.size());
      assertTrue(source.owners.isEmpty());
      assertTrue(requests.all().isEmpty());
      assertEquals(0, requests.count(LockType.FOREGROUND));
    }
    HeldRequest done = request(LockType.FOREGROUND, 1);
    requests.admit(done);
    requests.run(done);
    assertTrue(requests.end(done));
    requests.fail(done, new IllegalStateException());
    assertEquals(1, answers.size(), "it has its answer");
  }

  @Test
  void theRestOfARequestHasItsPlace() {
    HeldRequest first = request(LockType.BACKGROUND, 1);
    requests.admit(first);
    requests.runCounted(first);
    admit(LockType.BACKGROUND, 1);
    assertEquals(Admission.TOO_MANY, admit(LockType.BACKGROUND, 1));
    HeldRequest rest = requests.takeOver(first, type -> request(type, 60));
    assertEquals(rest, requests.get(rest.ticket), "whatever the bounds");
    assertTrue(requests.runCounted(rest));
    assertTrue(requests.endCounted(rest, null));
    assertEquals(2, requests.count(LockType.BACKGROUND));
    assertEquals(61, requests.bytes(LockType.BACKGROUND));
    assertEquals(Admission.TOO_MANY, admit(LockType.BACKGROUND, 1));
    requests.leave(rest);
    requests.leave(rest);
    assertEquals(Admission.ADMITTED, admit(LockType.BACKGROUND, 1));
    requests.close();
    assertNull(requests.takeOver(rest, type -> request(type, 1)));
    assertEquals(0, requests.count(LockType.BACKGROUND));
  }

  private int moveAll(LockType type) {
    return requests.prioritize(held -> true, type);
  }

  /** It waits, whatever happens to be under way when somebody gives it another class. */
  @Test
  void theRestOfARequestIsOfTheClassThatItWasGivenAtAnyMoment() {
    HeldRequest request = request(LockType.BACKGROUND, 1);
    requests.admit(request);
    requests.runCounted(request);
    assertEquals(1, moveAll(LockType.FOREGROUND), "while what it got of its locks is written");
    assertEquals(0, moveAll(LockType.FOREGROUND), "it is that already");
    assertEquals(1, moveAll(LockType.BACKGROUND));
    requests.endCounted(request, null);
    assertEquals(1, moveAll(LockType.FOREGROUND), "between two attempts");
    List<LockType> types = new ArrayList<>();
    HeldRequest rest = requests.takeOver(request, type -> {
      types.add(type);
      return request(type, 1);
    });
    assertEquals(List.of(LockType.FOREGROUND), types);
    assertEquals(LockType.FOREGROUND, rest.waitsAs());
    // It was found just before, and is asked when the other one has its place.
    HeldRequest[] last = new HeldRequest[1];
    assertEquals(1, requests.prioritize(held -> {
      if (last[0] == null) {
        requests.runCounted(rest);
        requests.endCounted(rest, null);
        last[0] = requests.takeOver(rest, type -> request(type, 1));
      }
      return true;
    }, LockType.BACKGROUND));
    assertEquals(LockType.BACKGROUND, last[0].waitsAs());
    assertTrue(requests.run(last[0]));
    assertEquals(0, moveAll(LockType.FOREGROUND), "nothing of it waits");
    requests.end(last[0]);
    assertTrue(requests.all().isEmpty());
    assertEquals(0, requests.count(LockType.BACKGROUND) + requests.count(LockType.FOREGROUND));
  }

  /** The former attempt is there as long as another node may go on with it. */
  @Test
  void theRestOfARequestIsFoundByWhatItWaitsForItself() {
    HeldRequest former = request(LockType.BACKGROUND, 1);
    requests.admit(former);
    former.locks.acquire(0, problem -> {}, defect -> {});
    requests.runCounted(former);
    former.promise(SHARD, former.nextAttempt(SHARD));
    requests.endCounted(former, new IllegalStateException("the connection is gone"));
    HeldRequest rest = requests.takeOver(former, type -> request(type, 2));
    source.others("m2");
    rest.locks.acquire(1000, problem -> {}, defect -> {});
    assertEquals(Set.of(former, rest), Set.copyOf(requests.all()));
    assertEquals(0, requests.prioritize(held -> held.locks.has("m1"), LockType.FOREGROUND));
    assertEquals(LockType.BACKGROUND, rest.waitsAs());
    assertEquals(1, requests.prioritize(held -> true, LockType.FOREGROUND));
    assertEquals(LockType.FOREGROUND, rest.waitsAs());
    assertEquals(1, requests.prioritize(held -> held.locks.has("m2"), LockType.BACKGROUND));
  }

  /** Found just before it is taken over by what waits for something else. */
  @Test
  void whatIsTakenOverMeanwhileIsLookedAtAgain() {
    HeldRequest former = request(LockType.BACKGROUND, 1);
    requests.admit(former);
    requests.runCounted(former);
    HeldRequest[] rest = new HeldRequest[1];
    assertEquals(0, requests.prioritize(held -> {
      if (rest[0] == null) {
        requests.endCounted(former, null);
        rest[0] = requests.takeOver(former, type -> request(type, 2));
      }
      return held.locks.has("m1");
    }, LockType.FOREGROUND));
    assertEquals(LockType.BACKGROUND, rest[0].waitsAs());
  }

  @Test
  void whatIsCancelledFreesItsRoom() {
    HeldRequest request = request(LockType.BACKGROUND, 7);
    requests.admit(request);
    request.locks.acquire(1000, problem -> {}, defect -> {});
    assertTrue(source.owners.containsKey("m7"));
    assertEquals(1, requests.cancel(held -> held.type == LockType.BACKGROUND, "test"));
    assertEquals(409, ((Refusal) answers.get(0)).status);
    assertFalse(requests.run(request));
    assertFalse(source.owners.containsKey("m7"));
    assertEquals(0, requests.bytes(LockType.BACKGROUND));
    assertEquals(1, stats.of(LockType.BACKGROUND).get(Stats.Count.CANCELLED));
  }

  @Test
  void closingAnswersAllAndTakesNoMore() {
    admit(LockType.FOREGROUND, 1);
    admit(LockType.BACKGROUND, 1);
    assertEquals(2, requests.close());
    assertEquals(2, answers.size());
    assertEquals(503, ((Refusal) answers.get(0)).status);
    assertEquals(Admission.CLOSED, admit(LockType.FOREGROUND, 1));
  }

  /** In the middle of a change, its locks are closed: that throws, as at any use of what is closed. */
  @Test
  void oneThatEndsMeanwhileKeepsNoOtherFromItsClass() {
    WriteLocks gone = (WriteLocks) Proxy.newProxyInstance(getClass().getClassLoader(),
        new Class<?>[] {WriteLocks.class}, (proxy, method, arguments) -> {
          throw TestFailures.of(ErrorCode.INVALID_HANDLE, "");
        });
    admit(LockType.BACKGROUND, 1);
    requests.admit(new HeldRequest(
        requests.nextTicket(), null, "test", LockType.BACKGROUND, gone, 1, System.nanoTime(), answers::add));
    admit(LockType.FOREGROUND, 1);
    assertEquals(2, requests.prioritize(held -> true, LockType.FOREGROUND));
  }
}
