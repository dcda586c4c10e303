package org.forelock.search;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import org.forelock.ErrorCode;
import org.forelock.TestFailures;
import org.junit.jupiter.api.Test;

class LooksTest {
  private final Deque<Runnable> threads = new ArrayDeque<>();
  private final List<Object> answers = new ArrayList<>();
  private final Looks looks = new Looks(threads::add);

  private void ask(Looks of, RuntimeException problem) {
    of.ask(() -> {
      if (problem != null) {
        throw problem;
      }
      return Map.of("seen", answers.size());
    }, (seen, failure) -> answers.add(seen == null ? failure : seen));
  }

  private void runAll() {
    while (!threads.isEmpty()) {
      threads.poll().run();
    }
  }

  @Test
  void tellsWhatWasSeenAndWhatWasNot() {
    ask(looks, null);
    assertEquals(List.of(), answers); // not on the thread that asks
    runAll();
    assertEquals(List.of(Map.of("seen", 0)), answers);
    IllegalStateException defect = new IllegalStateException();
    ask(looks, defect);
    runAll();
    assertSame(defect, answers.get(1));
    ask(looks, TestFailures.of(ErrorCode.CONNECTION_LOSS, ""));
    runAll();
    assertEquals(503, ((Refusal) answers.get(2)).status);
  }

  @Test
  void takesNoMoreThanItsBound() {
    for (int i = 0; i < Looks.MOST + Looks.MOST_WAITING; ++i) {
      ask(looks, null);
    }
    assertEquals(Looks.MOST, threads.size());
    assertEquals(List.of(), answers);
    ask(looks, null);
    Refusal refusal = (Refusal) answers.remove(0);
    assertEquals(429, refusal.status);
    assertEquals("overloaded", refusal.code);
    runAll();
    assertEquals(Looks.MOST + Looks.MOST_WAITING, answers.size());
    ask(looks, null);
    runAll();
    assertEquals(Looks.MOST + Looks.MOST_WAITING + 1, answers.size());
  }

  @Test
  void isToldThatTheNodeCloses() {
    ask(new Looks(task -> {
      throw new RejectedExecutionException();
    }), null);
    assertEquals(429, ((Refusal) answers.get(0)).status);
  }
}
