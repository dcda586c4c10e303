package org.forelock.elasticsearch;

import java.util.List;
import java.util.Map;
import org.elasticsearch.common.settings.Setting;
import org.elasticsearch.common.settings.Setting.Property;
import org.elasticsearch.common.settings.Settings;

/** Settings that only the plugin for OpenSearch supports: refused here instead of ignored. */
final class OwnSettings {
  static final Setting<Boolean> INDEX_FENCING = missing("index.forelock.fencing",
      "the plugin has no engine of its own on Elasticsearch that refuses late writes", Property.IndexScope,
      Property.Dynamic);
  static final Setting<Boolean> CANCEL_ON_DISCONNECT = missing("forelock.cancel_on_disconnect",
      "Elasticsearch does not tell a plugin of its clients' connections", Property.NodeScope);
  static final Setting<String> QUEUE_MODE = Setting.simpleString("forelock.queue.mode", "off", mode -> {
    if (!mode.equals("off")) {
      throw new IllegalArgumentException("forelock.queue.mode: '" + mode
          + "' is not there on Elasticsearch, where the plugin has no dead-letter queue; leave it off");
    }
  }, Property.NodeScope);

  private OwnSettings() {}

  static List<Setting<?>> all() {
    return List.of(INDEX_FENCING, CANCEL_ON_DISCONNECT, QUEUE_MODE);
  }

  /** There is nothing that would need any. */
  static Map<String, String> secrets(Settings settings) {
    return Map.of();
  }

  /** @param why it can only be false */
  private static Setting<Boolean> missing(String key, String why, Property... properties) {
    return Setting.boolSetting(key, false, value -> {
      if (value) {
        throw new IllegalArgumentException(key + ": " + why + "; leave it false");
      }
    }, properties);
  }
}
