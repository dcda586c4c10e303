package org.forelock.search;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
import org.forelock.TestFailures;
import org.forelock.TestViews;
import org.junit.jupiter.api.Test;

class HeldLocksTest {
  private static final long SECOND = 1_000_000_000;

  private final Deque<Runnable> looks = new ArrayDeque<>();
  private final AtomicLong clock = new AtomicLong(-SECOND);
  private final Map<String, Long> holders = new HashMap<>();
  private final HolderTokens look = new HolderTokens(this::holder, looks::add, clock::get);
  private final List<Object> ends = new ArrayList<>();

  private Optional<org.forelock.MonitorView> holder(String monitor) {
    if (monitor.equals("broken")) {
      throw TestFailures.of(ErrorCode.CONNECTION_LOSS, monitor);
    }
    return Optional.ofNullable(holders.get(monitor)).map(token -> TestViews.held(monitor, token));
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
