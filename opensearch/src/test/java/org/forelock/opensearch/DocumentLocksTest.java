package org.forelock.opensearch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.forelock.ErrorCode;
import org.forelock.ForelockException;
import org.forelock.LockSet;
import org.forelock.LockType;
import org.junit.jupiter.api.Test;

class DocumentLocksTest {
  private static final int MANY = 2 * LockSet.MAX_MEMBERS + 1;

  private final FakeLocks source = new FakeLocks();
  private final List<ForelockException> ends = new ArrayList<>();
  private long now = 5_000_000_000L;

  private DocumentLocks locks(List<String> monitors) {
    return new DocumentLocks(source, "test", monitors, LockType.BACKGROUND, () -> now);
  }

  private DocumentLocks acquired(String... monitors) {
    return acquired(List.of(monitors));
  }

  private DocumentLocks acquired(List<String> monitors) {
    DocumentLocks locks = locks(monitors);
    locks.acquire(1000, ends::add);
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
  void theDeadlineIsThatOfTheWhole() {
    source.others("m0000", "m1500");
    acquired(many());
    now += 1_000_000_000L;
    source.release("m0000");
    assertEquals(ErrorCode.LOCK_TIMEOUT, ends.get(0).code());
    assertEquals("m1500", ends.get(0).monitor());
    assertFalse(source.owners.containsKey("m0000"), "all or none");
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
}
