package org.forelock.elasticsearch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.elasticsearch.common.settings.ClusterSettings;
import org.elasticsearch.common.settings.Setting;
import org.elasticsearch.common.settings.Settings;
import org.forelock.LockType;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class ForelockSettingsTest {
  @BeforeAll
  static void begin() {
    TestLogging.begin();
  }

  private static ForelockSettings settings(Settings settings) {
    Set<Setting<?>> known = new HashSet<>(ClusterSettings.BUILT_IN_CLUSTER_SETTINGS);
    ForelockSettings.all().stream().filter(Setting::hasNodeScope).forEach(known::add);
    return new ForelockSettings(settings, new ClusterSettings(settings, known));
  }

  /** Who asks for it must not believe that it is there. */
  @Test
  void whatIsNotThereIsRefusedWithTheReason() {
    Map<Setting<?>, String> missing = Map.of(OwnSettings.INDEX_FENCING, "true",
        OwnSettings.CANCEL_ON_DISCONNECT, "true", OwnSettings.QUEUE_MODE, "header");
    missing.forEach((setting, value) -> {
      Settings wrong = Settings.builder().put(setting.getKey(), value).build();
      String message = assertThrows(IllegalArgumentException.class, () -> setting.get(wrong)).getMessage();
      assertTrue(message.contains(setting.getKey()) && message.contains("on Elasticsearch")
          || message.contains("Elasticsearch does not"), message);
      assertEquals(setting.getDefault(Settings.EMPTY), setting.get(Settings.EMPTY));
    });
  }

  @Test
  void wrongSettingsAreRefusedWithTheirNames() {
    for (String[] wrong : new String[][] {{"forelock.on_unavailable", "perhaps"},
        {"forelock.foreground.timeout", "-5s"},
        {"forelock.background.max_requests", "-1"}, {"forelock.foreground.max_bytes", "much"}}) {
      String message = assertThrows(IllegalArgumentException.class,
          () -> settings(Settings.builder().put(wrong[0], wrong[1]).build())).getMessage();
      assertTrue(message.contains(wrong[0]), message);
    }
  }

  @Test
  void backgroundHasNoHigherBoundWhateverIsSet() {
    ForelockSettings wrong = settings(Settings.builder()
        .put("forelock.foreground.max_requests", 3).put("forelock.background.max_requests", 5).build());
    assertEquals(3, wrong.maxRequests(LockType.BACKGROUND));
  }
}
