package org.forelock.opensearch;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.forelock.search.Fence;
import org.forelock.search.Names;
import org.opensearch.common.settings.SecureSetting;
import org.opensearch.common.settings.Setting;
import org.opensearch.common.settings.Setting.Property;
import org.opensearch.common.settings.Settings;
import org.opensearch.core.common.settings.SecureString;

/** Settings of the plugin for OpenSearch alone. */
final class OwnSettings {
  /** The ways in which clients request the dead-letter queue. */
  enum QueueMode {
    OFF,
    HEADER,
    PARAMETER;

    static QueueMode parse(String text) {
      for (QueueMode value : values()) {
        if (Names.of(value).equals(text)) {
          return value;
        }
      }
      throw new IllegalArgumentException(
          "forelock.queue.mode: '" + text + "' is invalid; write off, header or parameter");
    }
  }

  /** Not dynamic: the engine, which only such indices have, is made when an index is opened. */
  static final Setting<Boolean> INDEX_FENCING =
      Setting.boolSetting("index.forelock.fencing", false, Property.IndexScope);
  /** Written by the plugin itself into the index's settings, so that it stays with the index. */
  static final Setting<Fence> INDEX_FENCE =
      new Setting<>("index.forelock.fence", "", Fence::parse, Property.IndexScope, Property.Dynamic);
  static final Setting<Boolean> CANCEL_ON_DISCONNECT =
      Setting.boolSetting("forelock.cancel_on_disconnect", false, Property.NodeScope);
  static final Setting<QueueMode> QUEUE_MODE =
      new Setting<>("forelock.queue.mode", "off", QueueMode::parse, Property.NodeScope);
  static final Setting<Integer> QUEUE_RETRIES =
      Setting.intSetting("forelock.queue.retries", -1, -1, 1000, Property.NodeScope);
  static final Setting<Boolean> ENGINE =
      Setting.boolSetting("forelock.engine.enabled", true, Property.NodeScope);
  static final Setting.AffixSetting<SecureString> KAFKA = Setting.prefixKeySetting(
      "forelock.kafka.", key -> SecureSetting.secureString(key, null));

  private OwnSettings() {}

  static List<Setting<?>> all() {
    return List.of(INDEX_FENCING, INDEX_FENCE, CANCEL_ON_DISCONNECT, QUEUE_MODE, QUEUE_RETRIES, ENGINE, KAFKA);
  }

  /** Of the queue's destination. */
  static Map<String, String> secrets(Settings settings) {
    Map<String, String> secrets = new HashMap<>();
    KAFKA.getAsMap(settings).forEach((key, secret) -> secrets.put("kafka." + key, secret.toString()));
    return secrets;
  }
}
