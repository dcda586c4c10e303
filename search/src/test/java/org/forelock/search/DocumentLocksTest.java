package org.forelock.search;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.forelock.ErrorCode;
import org.forelock.ForelockException;
import org.forelock.LockSet;
import org.forelock.LockType;
import org.junit.jupiter.api.Test;

class DocumentLocksTest {
  private static final int MANY = 2 * LockSet.MAX_MEMBERS + 1;

  private final FakeLocks source = new FakeLocks();
  private final List<ForelockException> ends = new ArrayList<>();
  private final List<Exception> defects = new ArrayList<>();
  private long now = 5_000_000_000L;

  private DocumentLocks locks(List<String> monitors) {
    return new DocumentLocks(source, "test", monitors, LockType.BACKGROUND, false, () -> now);
  }

  private DocumentLocks acquired(String... monitors) {
    return acquired(List.of(monitors));
  }

  private DocumentLocks acquired(List<String> monitors) {
    DocumentLocks locks = locks(monitors);
    locks.acquire(1000, ends::add, defects::add);
    return locks;
  }

  /** In an order that is nobody's. */
  private static List<String> many() {
    List<String> monitors = new ArrayList<>();
    for (int i = 0; i < MANY; ++i) {
      monitors.add(String.format("m%04d", i));
    }
    Collections.reverse(monitors);
    return monitors;
  }

  @Test
  void allAreTakenAtOnceAndOnce() {
    DocumentLocks locks = acquired("b", "a", "b");
    assertEquals(1, ends.size());
    assertNull(ends.get(0));
    assertEquals(List.of("+a*2"), source.journal);
    assertTrue(locks.certain());
    assertEquals(2, locks.token(), "the highest of all");
    assertEquals("a", locks.firstMonitor());
    assertTrue(locks.has("b"));
    assertFalse(locks.has("c"));
    locks.close();
    locks.close();
    assertEquals(List.of("+a*2", "-a*2"), source.journal);
    assertFalse(locks.certain());
  }

  @Test
  void withoutAnyTimeWhatIsFreeIsTaken() {
    locks(List.of("a")).acquire(0, ends::add, defects::add);
    source.others("b");
    DocumentLocks some = locks(List.of("b", "c"));
    some.acquire(0, ends::add, defects::add);
    assertEquals(Arrays.asList(null, null), ends);
    assertEquals(List.of("+a", "!b", "+c"), source.journal, "and nothing waits");
    assertEquals(Set.of("b"), some.refused().keySet());
  }

  @Test
  void moreThanASetMayHaveAreSeveralInOneOrder() {
    DocumentLocks locks = acquired(many());
    assertEquals(1, ends.size());
    assertNull(ends.get(0));
    assertEquals(List.of("+m0000*1000", "+m1000*1000", "+m2000"), source.journal);
    assertEquals(MANY, locks.token());
    assertTrue(locks.certain());
    source.owners.put("m1500", "a thief");
    assertFalse(locks.certain());
    locks.close();
    assertEquals(List.of("a thief"), new ArrayList<>(source.owners.values()));
  }

  @Test
  void theNextPartIsWaitedForHoldingTheEarlierOnes() {
    source.others("m1000");
    acquired(many());
    assertEquals(List.of(), ends);
    assertEquals(List.of("+m0000*1000", "?m1000"), source.journal);
    assertFalse(source.owners.containsKey("m2000"), "nothing behind it is held meanwhile");
    source.release("m1000");
    assertEquals(1, ends.size());
    assertNull(ends.get(0));
  }

  @Test
  void anotherClassIsThatOfWhatIsWaitedForAndOfWhatFollows() {
    source.others("m1000");
    DocumentLocks locks = acquired(many());
    LockType before = source.types.get(0);
    LockType after = before == LockType.FOREGROUND ? LockType.BACKGROUND : LockType.FOREGROUND;
    assertTrue(locks.prioritize(after));
    assertEquals("^m1000*1000 " + after, source.journal.get(source.journal.size() - 1));
    source.release("m1000");
    assertEquals(List.of(before, before, after), source.types);
    assertFalse(locks.prioritize(before), "it holds all");
    locks.close();
    assertFalse(locks.prioritize(before));
  }

  @Test
  void theDeadlineIsThatOfTheWhole() {
    source.others("m0000", "m1500");
    DocumentLocks locks = acquired(many());
    now += 1_000_000_000L;
    source.release("m0000");
    assertEquals(1, ends.size());
    assertNull(ends.get(0));
    assertEquals(Set.of("m1500"), locks.refused().keySet());
    assertTrue(source.owners.containsKey("m2000"), "the rest is taken");
  }

  @Test
  void whatOthersKeepIsRefusedAlone() {
    source.others("b", "d");
    DocumentLocks locks = acquired("a", "b", "c", "d", "e");
    assertEquals(List.of(), ends);
    source.expire("b");
    assertEquals(1, ends.size());
    assertNull(ends.get(0));
    assertEquals(List.of("b", "d"), new ArrayList<>(locks.refused().keySet()));
    assertEquals(ErrorCode.LOCK_TIMEOUT, locks.refused().get("b").code());
    assertEquals(ErrorCode.LOCK_UNAVAILABLE, locks.refused().get("d").code());
    assertEquals(List.of("?b", "+a*2", "!d", "+e"), source.journal, "tried in halves, and nothing is waited for");
    assertTrue(locks.certain());
    source.owners.remove("e");
    assertFalse(locks.certain(), "each of the rest counts");
    locks.close();
    assertEquals(Set.of("b", "d"), source.owners.keySet());
  }

  @Test
  void allMayBeRefused() {
    source.others("a", "b");
    DocumentLocks locks = acquired("a", "b");
    source.expire("a");
    assertEquals(1, ends.size());
    assertNull(ends.get(0));
    assertEquals(Set.of("a", "b"), locks.refused().keySet());
    assertEquals(0, locks.token());
  }

  @Test
  void theTriesHaveALimit() {
    List<String> monitors = many().subList(0, 500);
    source.others(monitors.toArray(new String[0]));
    source.owners.remove(monitors.get(0));
    DocumentLocks locks = acquired(monitors);
    source.expire(source.journal.get(0).substring(1));
    assertNull(ends.get(0));
    assertEquals(1 + DocumentLocks.MAX_TRIES, source.journal.size());
    assertEquals(500, locks.refused().size(), "the free one's turn did not come");
    assertEquals(1 + DocumentLocks.MAX_TRIES, locks.refused().values().stream().filter(Objects::nonNull).count());
  }

  @Test
  void noTryBeginsLongAfterTheDeadline() {
    source.others("a");
    DocumentLocks locks = acquired("a", "b");
    now += 1_000_000_000L + DocumentLocks.MAX_TRY_NANOS;
    source.expire("a");
    assertNull(ends.get(0));
    assertEquals(List.of("?a"), source.journal);
    assertEquals(Set.of("a", "b"), locks.refused().keySet());
  }

  @Test
  void anotherFailureIsThatOfTheWhole() {
    source.others("a");
    source.tryFailure = ErrorCode.CONNECTION_LOSS;
    acquired("a", "b");
    source.expire("a");
    assertEquals(ErrorCode.CONNECTION_LOSS, ends.get(0).code());
    assertEquals(Set.of("a"), source.owners.keySet());
  }

  @Test
  void closingGivesUpTheWaitAndWhatIsHeld() {
    source.others("m1500");
    DocumentLocks locks = acquired(many());
    locks.close();
    assertFalse(source.owners.containsKey("m0000"));
    assertEquals(List.of(), ends, "nothing is told after it");
    DocumentLocks never = locks(List.of("x"));
    never.close();
    never.acquire(1000, ends::add, defects::add);
    assertFalse(source.owners.containsKey("x"));
  }

  @Test
  void aDefectBehindTheFirstPartIsTold() {
    RuntimeException defect = new IllegalStateException("a defect");
    source.defects.put("m1000", defect);
    DocumentLocks locks = acquired(many());
    assertEquals(List.of(defect), defects);
    assertEquals(List.of(), ends, "one end alone");
    assertEquals(Set.of(), source.owners.keySet(), "what is held is given back");
    assertFalse(locks.certain());
  }

  @Test
  void aDefectOfAnAcquisitionIsTold() {
    RuntimeException defect = new IllegalStateException("a defect");
    source.failures.put("m1000", defect);
    acquired(many());
    assertEquals(List.of(defect), defects);
    assertEquals(List.of(), ends);
    assertEquals(Set.of(), source.owners.keySet());
  }

  @Test
  void theCancellationByClosingIsNoDefect() {
    source.others("a");
    DocumentLocks locks = acquired("a");
    locks.close();
    assertEquals(List.of(), ends);
    assertEquals(List.of(), defects);
  }

  @Test
  void allIsTakenAgainWhenTheSessionEnds() {
    source.others("m1500");
    DocumentLocks locks = acquired(many());
    source.endSession();
    assertEquals(List.of(), ends, "it waits again");
    assertTrue(source.owners.containsKey("m0000"), "the part before it was lost, and is taken anew");
    source.release("m1500");
    assertEquals(1, ends.size());
    assertNull(ends.get(0));
    assertTrue(locks.certain());
  }

  @Test
  void noSessionIsWaitedForBehindTheDeadlineNorWithoutLimit() {
    source.others("a");
    acquired("a");
    for (int i = 0; i < DocumentLocks.MAX_SESSIONS; ++i) {
      assertEquals(List.of(), ends);
      source.endSession();
    }
    assertEquals(ErrorCode.SESSION_EXPIRED, ends.get(0).code());
    acquired("a");
    now += 1_000_000_000L;
    source.endSession();
    assertEquals(2, ends.size());
    assertEquals(ErrorCode.SESSION_EXPIRED, ends.get(1).code());
  }

  @Test
  void oneUncertainLockMakesAllUncertainForGood() {
    DocumentLocks locks = acquired("a", "b");
    source.owners.put("a", "a thief");
    assertFalse(locks.certain());
    source.owners.clear();
    source.nanosLeft = 1_000_000_000;
    assertFalse(locks.certain());
  }
}
