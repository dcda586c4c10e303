package org.forelock.opensearch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.forelock.LockType;
import org.junit.jupiter.api.Test;
import org.opensearch.common.settings.Setting;
import org.opensearch.common.settings.Settings;

class ForelockSettingsTest {
  @Test
  void backgroundHasNoHigherBoundWhateverIsSet() {
    ForelockSettings wrong = TestSettings.of(Settings.builder()
        .put("forelock.foreground.max_requests", 3).put("forelock.background.max_requests", 5)
        .put("forelock.foreground.max_bytes", "100b").put("forelock.background.max_bytes", "200b").build());
    assertEquals(3, wrong.maxRequests(LockType.BACKGROUND));
    assertEquals(100, wrong.maxBytes(LockType.BACKGROUND));
  }

  @Test
  void timesThatAreNotSetAreNegative() {
    ForelockSettings settings = TestSettings.of(Settings.builder().put("forelock.foreground.timeout", "3s").build());
    assertEquals(3000, settings.timeoutMillis(LockType.FOREGROUND));
    assertTrue(settings.timeoutMillis(LockType.BACKGROUND) < 0);
  }

  @Test
  void aWrongSettingOfTheQueueIsRefused() {
    Settings wrong = Settings.builder().put("forelock.queue.mode", "on").put("forelock.queue.retries", "-2").build();
    for (Setting<?> setting : List.of(OwnSettings.QUEUE_MODE, OwnSettings.QUEUE_RETRIES)) {
      String message = assertThrows(IllegalArgumentException.class, () -> setting.get(wrong)).getMessage();
      assertTrue(message.contains(setting.getKey()), message);
    }
  }

  @Test
  void wrongSettingsAreRefusedWithTheirNames() {
    for (String[] wrong : new String[][] {{"forelock.on_unavailable", "perhaps"},
        {"forelock.foreground.timeout", "-5s"},
        {"forelock.background.max_requests", "-1"}, {"forelock.foreground.max_bytes", "much"}}) {
      String message = assertThrows(IllegalArgumentException.class,
          () -> TestSettings.of(Settings.builder().put(wrong[0], wrong[1]).build())).getMessage();
      assertTrue(message.contains(wrong[0]), message);
    }
  }
}
