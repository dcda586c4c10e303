package org.forelock.search;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.forelock.ErrorCode;
import org.forelock.HolderToken;
import org.forelock.MonitorView;
import org.forelock.TestFailures;
import org.forelock.TestViews;
import org.junit.jupiter.api.Test;

class HeldLocksTest {
  private static final long SECOND = 1_000_000_000;

  private final Deque<Runnable> looks = new ArrayDeque<>();
  private final AtomicLong clock = new AtomicLong(-SECOND);
  private final Map<String, Long> holders = new HashMap<>();
  /** Of each monitor what was read last, and when; a watch would take it out. */
  private final Map<String, long[]> remembered = new HashMap<>();
  /** From when it was found until it is told. */
  private long pause;
  private final HolderTokens look = new HolderTokens(new Holders(), looks::add, clock::get);
  private final List<Object> ends = new ArrayList<>();

  private final class Holders implements HolderTokens.Source {
    @Override
    public Optional<HolderToken> known(String monitor, Duration maxAge) {
      long[] last = remembered.get(monitor);
      Optional<HolderToken> found = Optional.ofNullable(last).map(one -> TestViews.token(one[0], clock.get() - one[1]))
          .filter(token -> token.age().compareTo(maxAge) <= 0);
      clock.addAndGet(pause);
      return found;
    }

    @Override
    public HolderToken read(String monitor) {
      if (monitor.equals("broken")) {
        throw TestFailures.of(ErrorCode.CONNECTION_LOSS, monitor);
      }
      long token = holders.getOrDefault(monitor, 0L);
      remembered.put(monitor, new long[] {token, clock.get()});
      return TestViews.token(token, 0);
    }

    @Override
    public Optional<MonitorView> holder(String monitor) {
      return Optional.ofNullable(holders.get(monitor)).map(token -> TestViews.held(monitor, token));
    }
  }

  private HeldLocks locks(String said, String... monitors) {
    HeldLocks locks = new HeldLocks(look, HeldTokens.parse(said), List.of(monitors), DocumentTokens.NONE, clock::get);
    locks.acquire(2000, problem -> ends.add(problem == null ? "looked" : problem.code()), ends::add);
    return locks;
  }

  private void run() {
    while (!looks.isEmpty()) {
      looks.poll().run();
    }
  }

  @Test
  void theHoldersTokenCountsFromWhenTheLookBegan() {
    holders.put("a", 7L);
    HeldLocks locks = locks("7", "a");
    assertFalse(locks.certain(), "nothing is known yet");
    clock.addAndGet(SECOND / 10);
    run();
    assertEquals(List.of("looked"), ends);
    assertEquals(SECOND - SECOND / 10, locks.nanosLeft());
    assertEquals(7, locks.token());
    assertTrue(locks.holds(Set.of("a")) && locks.has("a") && !locks.has("b"));
    assertTrue(looks.isEmpty(), "it is not looked again so soon");
    clock.addAndGet(SECOND);
    assertEquals(0, locks.nanosLeft(), "no look counts for ever");
  }

  @Test
  void whatWasSeenLatelyNeedsNoLook() {
    holders.put("a", 7L);
    locks("7", "a");
    run();
    clock.addAndGet(SECOND / 10);
    HeldLocks next = locks("7", "a");
    assertTrue(looks.isEmpty());
    assertEquals(List.of("looked", "looked"), ends, "at once");
    assertEquals(SECOND - SECOND / 10, next.nanosLeft(), "it counts from the look, and not anew");
    clock.addAndGet(SECOND * 3 / 10);
    assertTrue(locks("7", "a").certain());
    assertEquals(1, looks.size(), "the next one will need it");
    run();
    clock.addAndGet(SECOND / 2);
    assertTrue(locks("7", "a").certain(), "that look has been told again");
    run();
    clock.addAndGet(SECOND);
    locks("7", "a");
    assertEquals(1, looks.size(), "not for ever");
  }

  @Test
  void whoBeginsHasTimeLeft() {
    holders.put("a", 7L);
    locks("7", "a");
    run();
    clock.addAndGet(SECOND * 6 / 10);
    assertFalse(locks("7", "a").certain());
    assertEquals(1, looks.size(), "the last look is too old to begin with");
  }

  @Test
  void aPauseMakesNoLookYounger() {
    holders.put("a", 7L);
    locks("7", "a");
    run();
    pause = SECOND / 2;
    HeldLocks next = locks("7", "a");
    assertEquals(SECOND / 2, next.nanosLeft());
  }

  @Test
  void ofSeveralTheOldestLookCounts() {
    holders.put("a", 7L);
    holders.put("b", 8L);
    locks("7", "a");
    run();
    clock.addAndGet(SECOND / 5);
    HeldLocks both = locks("a=7,b=8", "a", "b");
    run();
    assertEquals(SECOND - SECOND / 5, both.nanosLeft());
  }

  @Test
  void whatWasSeenRefusesNobody() {
    holders.put("a", 7L);
    locks("7", "a");
    run();
    holders.put("a", 8L); // the watch has not told it yet
    HeldLocks next = locks("8", "a");
    assertFalse(next.certain());
    run();
    assertTrue(next.certain() && next.notHeld().isEmpty());
  }

  @Test
  void aLongWriteLooksAgain() {
    holders.put("a", 7L);
    HeldLocks locks = locks("a=7", "a");
    run();
    for (int i = 0; i < 5; ++i) {
      clock.addAndGet(SECOND * 6 / 10);
      assertTrue(locks.certain());
      assertTrue(locks.certain());
      assertEquals(1, looks.size(), "one look at a time");
      run();
    }
    holders.put("a", 8L);
    clock.addAndGet(SECOND * 6 / 10);
    assertTrue(locks.certain(), "nobody has looked yet");
    run();
    assertFalse(locks.certain());
    holders.put("a", 7L);
    assertFalse(locks.certain(), "what is lost stays lost");
  }

  @Test
  void whatIsNotHeldSoIsRefusedAlone() {
    holders.put("a", 7L);
    holders.put("b", 9L);
    HeldLocks locks = locks("a=7,b=8,c=1", "a", "b", "c", "d");
    run();
    Map<String, Refusal> refused = locks.notHeld();
    assertEquals(Set.of("b", "c", "d"), refused.keySet());
    refused.values().forEach(answer -> {
      assertEquals(409, answer.status);
      assertEquals("not_held", answer.code);
    });
    assertTrue(refused.get("b").getMessage().contains("with the token 9 by session 0xabc"));
    assertTrue(refused.get("c").getMessage().contains("nobody holds it"));
    assertTrue(refused.get("d").getMessage().contains("names a and 2 more"));
    assertTrue(locks.certain() && locks.holds(Set.of("a")) && !locks.holds(Set.of("a", "b")));
    assertEquals(7, locks.token());
  }

  @Test
  void withoutZooKeeperNothingIsHeld() {
    HeldLocks locks = locks("broken=7", "broken");
    run();
    assertEquals(List.of(ErrorCode.CONNECTION_LOSS), ends);
    assertFalse(locks.certain());
  }

  @Test
  void aLookWhoseTurnComesTooLateIsNone() {
    holders.put("a", 7L);
    HeldLocks locks = locks("7", "a");
    clock.addAndGet(3 * SECOND);
    run();
    assertEquals(429, ((Refusal) ends.get(0)).status);
    assertFalse(locks.certain());
  }

  @Test
  void afterTheEndItIsNotCertain() {
    holders.put("a", 7L);
    HeldLocks locks = locks("7", "a");
    run();
    locks.close();
    assertFalse(locks.certain());
    assertNull(holders.get("b"));
  }
}
