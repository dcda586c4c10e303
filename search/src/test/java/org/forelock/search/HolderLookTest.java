package org.forelock.search;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class HolderLookTest {
  private final Deque<Runnable> looks = new ArrayDeque<>();
  private final Deque<Runnable> timers = new ArrayDeque<>();
  private final AtomicLong clock = new AtomicLong();
  private final List<String> looked = new ArrayList<>();
  private final List<Map<String, String>> told = new ArrayList<>();
  private final HolderLook holders = new HolderLook(monitor -> {
    looked.add(monitor);
    return monitor.equals("free") ? "" : "held by " + looked.size();
  }, looks::add, (millis, task) -> timers.add(task), clock::get);

  private static void run(Deque<Runnable> tasks) {
    while (!tasks.isEmpty()) {
      tasks.poll().run();
    }
  }

  @Test
  void allWhoAskWithinASecondShareALook() {
    for (int i = 0; i < 100; ++i) {
      holders.tell(List.of("hot"), told::add);
    }
    run(looks);
    assertEquals(100, told.size());
    holders.tell(List.of("hot", "free"), told::add);
    run(looks);
    assertEquals(List.of("hot", "free"), looked);
    assertEquals(Map.of("hot", "held by 1"), told.get(100));
    clock.addAndGet(1_000_000_000);
    holders.tell(List.of("hot"), told::add);
    run(looks);
    assertEquals(Map.of("hot", "held by 3"), told.get(101));
  }

  @Test
  void anAnswerDoesNotWaitForALookThatTakesLong() {
    holders.tell(List.of("slow"), told::add);
    run(timers);
    assertEquals(List.of(Map.of()), told);
    clock.addAndGet(5_000_000_000L);
    holders.tell(List.of("slow"), told::add);
    assertEquals(1, looks.size(), "it goes on, and is waited for by the next, too");
    run(looks);
    run(timers);
    assertEquals(List.of(Map.of(), Map.of("slow", "held by 1")), told, "each is told once");
  }

  @Test
  void onlyAFewLooksAreTakenAtATime() {
    for (int i = 0; i < 10; ++i) {
      holders.tell(List.of("m" + i), told::add);
    }
    assertEquals(4, looks.size());
    assertEquals(6, told.size(), "the others go without");
    run(looks);
    assertEquals(10, told.size());
  }

  @Test
  void aNodeThatStopsTakesNoMoreLooks() {
    HolderLook stopping = new HolderLook(monitor -> "", task -> {
      throw new RejectedExecutionException();
    }, (millis, task) -> timers.add(task), clock::get);
    for (int i = 0; i < 10; ++i) {
      stopping.tell(List.of("m" + i), told::add);
    }
    assertEquals(10, told.size());
    assertTrue(told.stream().allMatch(Map::isEmpty));
  }
}
