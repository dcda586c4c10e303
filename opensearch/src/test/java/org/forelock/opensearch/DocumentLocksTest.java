package org.forelock.opensearch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.forelock.ErrorCode;
import org.forelock.ForelockException;
import org.forelock.LockType;
import org.junit.jupiter.api.Test;

class DocumentLocksTest {
  private final FakeLocks source = new FakeLocks();
  private final List<ForelockException> ends = new ArrayList<>();
  private long now = 5_000_000_000L;

  private DocumentLocks locks(String... monitors) {
    return new DocumentLocks(source, "test", List.of(monitors), LockType.BACKGROUND, () -> now);
  }

  private DocumentLocks acquired(String... monitors) {
    DocumentLocks locks = locks(monitors);
    locks.acquire(1000, ends::add);
    return locks;
  }

  @Test
  void freeOnesAreTakenAtOnceAndOnce() {
    DocumentLocks locks = acquired("b", "a", "b");
    assertEquals(1, ends.size());
    assertNull(ends.get(0));
    assertEquals(List.of("+a", "+b"), source.journal);
    assertTrue(locks.certain());
    assertEquals(2, locks.token());
    locks.close();
    locks.close();
    assertEquals(List.of("+a", "+b", "-a", "-b"), source.journal);
    assertFalse(locks.certain());
  }

  @Test
  void oneThatIsNotFreeIsWaitedForHoldingSmallerNamesAlone() {
    source.others("b");
    DocumentLocks locks = acquired("a", "b", "c");
    assertEquals(List.of(), ends);
    assertEquals(List.of("+a", "+c", "-c", "?b"), source.journal);
    source.release("b");
    assertEquals(1, ends.size());
    assertNull(ends.get(0));
    assertTrue(locks.certain());
    assertEquals(4, locks.token(), "the highest of all");
  }

  @Test
  void whatWasTakenMeanwhileIsWaitedForInTurn() {
    source.others("a");
    acquired("a", "b");
    source.others("b");
    source.release("a");
    assertEquals(List.of(), ends);
    assertEquals(List.of("+b", "-b", "?a", "+a", "?b"), source.journal);
    source.release("b");
    assertEquals(1, ends.size());
  }

  @Test
  void theDeadlineIsThatOfTheWhole() {
    source.others("a", "b");
    acquired("a", "b");
    now += 1_000_000_000L;
    source.release("a");
    assertEquals(ErrorCode.LOCK_TIMEOUT, ends.get(0).code());
    assertEquals("b", ends.get(0).monitor());
    assertFalse(source.owners.containsKey("a"), "all or none");
  }

  @Test
  void closingGivesUpTheWaitAndWhatIsHeld() {
    source.others("b");
    DocumentLocks locks = acquired("a", "b");
    locks.close();
    assertFalse(source.owners.containsKey("a"));
    assertEquals(List.of(), ends, "nothing is told after it");
    DocumentLocks never = locks("x");
    never.close();
    never.acquire(1000, ends::add);
    assertFalse(source.owners.containsKey("x"));
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

  @Test
  void manyLocksAreNotAskedAtEachDocumentButNeverTrustedBeyondTheirTime() {
    DocumentLocks locks = acquired("a", "b", "c", "d", "e", "f", "g", "h", "i");
    source.nanosLeft = 500_000;
    assertTrue(locks.certain());
    source.owners.put("c", "a thief");
    now += 400_000;
    assertTrue(locks.certain(), "asked less than a millisecond ago");
    now += 100_000;
    assertFalse(locks.certain(), "what was certain then is over");
  }
}
