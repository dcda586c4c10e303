package org.forelock.search;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class UnguardedPeriodsTest {
  private static final long SECOND = 1_000_000_000;

  private final List<String> log = new ArrayList<>();
  private Runnable next;
  private boolean over;
  private long now = 7;
  private final UnguardedPeriods periods = new UnguardedPeriods(() -> now, () -> over,
      (level, text) -> log.add(level + " " + text), task -> next = task);

  private void pass(int seconds) {
    for (int i = 0; i < seconds && next != null; ++i) {
      now += SECOND;
      Runnable task = next;
      next = null;
      task.run();
    }
  }

  @Test
  void aPeriodIsToldAtItsBeginEachMinuteAndAtItsEnd() {
    periods.count(1);
    assertEquals(1, log.size());
    assertTrue(log.get(0).startsWith("WARNING "), log::toString);
    assertTrue(log.get(0).endsWith("; 1 request with 1 document so far"), log::toString);
    periods.count(500);
    pass(59);
    assertEquals(1, log.size(), "at most once a minute");
    pass(1);
    assertEquals("WARNING writes into guarded indices go on without a lock for 60 s now; 2 requests with 501 documents "
        + "so far", log.get(1));
    over = true;
    pass(1);
    assertEquals("INFO no write goes on without a lock any more; 2 requests with 501 documents did, within 0 s",
        log.get(2));
    pass(100);
    assertEquals(3, log.size());
    over = false;
    periods.count(1);
    assertTrue(log.get(3).endsWith("; 1 request with 1 document so far"), "the next one counts anew");
  }

  @Test
  void aConnectionThatComesAndGoesIsOnePeriod() {
    for (int i = 0; i < 20; ++i) {
      periods.count(1);
      over = true;
      pass(4);
      over = false;
    }
    assertEquals(2, log.size(), "the begin, and one minute");
    periods.close();
    assertEquals("INFO no write goes on without a lock any more; 20 requests with 20 documents did, within 76 s",
        log.get(2));
  }
}
