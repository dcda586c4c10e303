package org.forelock.search;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.forelock.LockType;
import org.junit.jupiter.api.Test;

class TimeoutsTest {
  private final Timeouts timeouts = new Timeouts(
      new FakeLimits().timeout(LockType.FOREGROUND, 3000), 1000, 2000);

  @Test
  void theSettingGoesOverTheConfiguration() {
    assertEquals(3000, timeouts.millis(LockType.FOREGROUND, 60_000));
    assertEquals(2000, timeouts.millis(LockType.BACKGROUND, 60_000));
  }

  @Test
  void aRequestMayPermitLess() {
    assertEquals(500, timeouts.millis(LockType.FOREGROUND, 500));
    assertEquals(0, timeouts.millis(LockType.FOREGROUND, 0));
    assertEquals(3000, timeouts.millis(LockType.FOREGROUND, -1), "no limit of its own");
  }
}
