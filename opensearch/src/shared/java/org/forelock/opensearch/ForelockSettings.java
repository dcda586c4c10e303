package org.forelock.opensearch;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.forelock.LockType;
import org.forelock.search.ClientFactory;
import org.forelock.search.Folders;
import org.forelock.search.LeaseLimits;
import org.forelock.search.Limits;
import org.forelock.search.MonitorRule;
import org.forelock.search.OnUnavailable;
import org.opensearch.common.settings.ClusterSettings;
import org.opensearch.common.settings.SecureSetting;
import org.opensearch.common.settings.Setting;
import org.opensearch.common.settings.Setting.Property;
import org.opensearch.common.settings.Settings;
import org.opensearch.common.unit.TimeValue;
import org.opensearch.core.common.settings.SecureString;
import org.opensearch.core.common.unit.ByteSizeValue;

/** ForelockSettings are the node's current settings. Thread-safe. */
final class ForelockSettings implements Limits, LeaseLimits {
  static final Setting<Boolean> INDEX_ENABLED =
      Setting.boolSetting("index.forelock.enabled", false, Property.IndexScope, Property.Dynamic);
  static final Setting<MonitorRule> INDEX_MONITOR = new Setting<>(
      "index.forelock.monitor", MonitorRule.DEFAULT, MonitorRule::parse, Property.IndexScope, Property.Dynamic);

  static final Setting<Boolean> ENABLED = dynamicBool("forelock.enabled", true);
  static final Setting<Boolean> STRICT = dynamicBool("forelock.strict", false);
  static final Setting<Boolean> FOREGROUND_RESTRICTED = dynamicBool("forelock.foreground.restricted", false);
  static final Setting<OnUnavailable> ON_UNAVAILABLE = new Setting<>(
      "forelock.on_unavailable", "reject", OnUnavailable::parse, Property.NodeScope, Property.Dynamic);
  static final Setting<Integer> BULK_FOREGROUND_MAX = Setting.intSetting(
      "forelock.bulk.foreground_max_documents", 100, 0, Property.NodeScope, Property.Dynamic);
  static final Setting<TimeValue> RETRY_AFTER = Setting.timeSetting("forelock.retry_after",
      TimeValue.timeValueSeconds(1), TimeValue.timeValueSeconds(1), Property.NodeScope, Property.Dynamic);
  static final Setting.AffixSetting<String> ZOOKEEPER = Setting.prefixKeySetting(
      "forelock.zookeeper.", key -> Setting.simpleString(key, Property.NodeScope));
  static final Setting<SecureString> DIGEST = SecureSetting.secureString("forelock.auth.digest", null);
  static final Setting<SecureString> SASL_PASSWORD = SecureSetting.secureString("forelock.sasl.password", null);
  static final Setting<SecureString> KEY_PASSWORD = SecureSetting.secureString("forelock.tls.key.password", null);
  /** With the keys of the configuration for such secrets. */
  private static final Map<Setting<SecureString>, String> CREDENTIALS = Map.of(DIGEST, "zookeeper.auth.digest",
      SASL_PASSWORD, "zookeeper.sasl.password", KEY_PASSWORD, "zookeeper.tls.key.password");

  static final Setting<TimeValue> FOREGROUND_TIMEOUT = timeout("forelock.foreground.timeout");
  static final Setting<TimeValue> BACKGROUND_TIMEOUT = timeout("forelock.background.timeout");
  static final Setting<Integer> FOREGROUND_MAX_REQUESTS = maxRequests("forelock.foreground.max_requests", 10_000);
  static final Setting<Integer> BACKGROUND_MAX_REQUESTS = maxRequests("forelock.background.max_requests", 5_000);
  static final Setting<ByteSizeValue> FOREGROUND_MAX_BYTES = maxBytes("forelock.foreground.max_bytes", "4%");
  static final Setting<ByteSizeValue> BACKGROUND_MAX_BYTES = maxBytes("forelock.background.max_bytes", "2%");

  static final Setting<Integer> MOST_LEASES =
      Setting.intSetting("forelock.leases.max", 1000, 0, Property.NodeScope, Property.Dynamic);
  static final Setting<TimeValue> MOST_KEEP = leaseTime("forelock.leases.max_keep", 60);
  static final Setting<TimeValue> MOST_WAIT = leaseTime("forelock.leases.max_timeout", 60);

  private volatile boolean enabled;
  private volatile boolean strict;
  private volatile boolean foregroundRestricted;
  private volatile OnUnavailable onUnavailable;
  private volatile int bulkForegroundMax;
  private volatile TimeValue retryAfter;
  private volatile TimeValue foregroundTimeout;
  private volatile TimeValue backgroundTimeout;
  private volatile int foregroundMaxRequests;
  private volatile int backgroundMaxRequests;
  private volatile ByteSizeValue foregroundMaxBytes;
  private volatile ByteSizeValue backgroundMaxBytes;
  private volatile int mostLeases;
  private volatile TimeValue mostKeep;
  private volatile TimeValue mostWait;

  ForelockSettings(Settings settings, ClusterSettings updates) {
    follow(ENABLED, settings, updates, v -> enabled = v);
    follow(STRICT, settings, updates, v -> strict = v);
    follow(FOREGROUND_RESTRICTED, settings, updates, v -> foregroundRestricted = v);
    follow(ON_UNAVAILABLE, settings, updates, v -> onUnavailable = v);
    follow(BULK_FOREGROUND_MAX, settings, updates, v -> bulkForegroundMax = v);
    follow(RETRY_AFTER, settings, updates, v -> retryAfter = v);
    follow(FOREGROUND_TIMEOUT, settings, updates, v -> foregroundTimeout = v);
    follow(BACKGROUND_TIMEOUT, settings, updates, v -> backgroundTimeout = v);
    follow(FOREGROUND_MAX_REQUESTS, settings, updates, v -> foregroundMaxRequests = v);
    follow(BACKGROUND_MAX_REQUESTS, settings, updates, v -> backgroundMaxRequests = v);
    follow(FOREGROUND_MAX_BYTES, settings, updates, v -> foregroundMaxBytes = v);
    follow(BACKGROUND_MAX_BYTES, settings, updates, v -> backgroundMaxBytes = v);
    follow(MOST_LEASES, settings, updates, v -> mostLeases = v);
    follow(MOST_KEEP, settings, updates, v -> mostKeep = v);
    follow(MOST_WAIT, settings, updates, v -> mostWait = v);
  }

  static List<Setting<?>> all() {
    List<Setting<?>> all = new ArrayList<>(OwnSettings.all());
    all.addAll(List.of(INDEX_ENABLED, INDEX_MONITOR, ENABLED, STRICT, FOREGROUND_RESTRICTED, ON_UNAVAILABLE,
        BULK_FOREGROUND_MAX, RETRY_AFTER, ZOOKEEPER, FOREGROUND_TIMEOUT, BACKGROUND_TIMEOUT, FOREGROUND_MAX_REQUESTS,
        BACKGROUND_MAX_REQUESTS, FOREGROUND_MAX_BYTES, BACKGROUND_MAX_BYTES, MOST_LEASES, MOST_KEEP, MOST_WAIT));
    all.addAll(CREDENTIALS.keySet());
    return all;
  }

  private static Setting<Boolean> dynamicBool(String key, boolean value) {
    return Setting.boolSetting(key, value, Property.NodeScope, Property.Dynamic);
  }

  private static Setting<TimeValue> timeout(String key) {
    return Setting.timeSetting(key, TimeValue.MINUS_ONE, TimeValue.MINUS_ONE, Property.NodeScope, Property.Dynamic);
  }

  private static Setting<TimeValue> leaseTime(String key, long seconds) {
    return Setting.timeSetting(key, TimeValue.timeValueSeconds(seconds), TimeValue.timeValueSeconds(1),
        Property.NodeScope, Property.Dynamic);
  }

  private static Setting<Integer> maxRequests(String key, int value) {
    return Setting.intSetting(key, value, 0, Property.NodeScope, Property.Dynamic);
  }

  private static Setting<ByteSizeValue> maxBytes(String key, String value) {
    return Setting.memorySizeSetting(key, value, Property.NodeScope, Property.Dynamic);
  }

  private static <T> void follow(Setting<T> setting, Settings settings, ClusterSettings updates, Consumer<T> field) {
    field.accept(setting.get(settings));
    updates.addSettingsUpdateConsumer(setting, field);
  }

  /** The factory of the client, from the settings, the keystore and the configuration file. */
  static ClientFactory factory(Settings settings, Folders folders) {
    Map<String, String> zookeeper = new HashMap<>();
    Settings given = settings.getByPrefix("forelock.zookeeper.");
    given.keySet().forEach(key -> zookeeper.put("zookeeper." + key, given.get(key)));
    Map<String, String> credentials = new HashMap<>();
    CREDENTIALS.forEach((setting, key) -> {
      try (SecureString secret = setting.get(settings)) {
        if (secret.length() > 0) {
          credentials.put(key, secret.toString());
        }
      }
    });
    return new ClientFactory(zookeeper, credentials, OwnSettings.secrets(settings), folders);
  }

  boolean enabled() {
    return enabled;
  }

  /** Whether a primary refuses what comes without a lock. */
  boolean isStrict() {
    return strict && enabled;
  }

  /** Whether only those may be foreground to whom a role permits it. */
  boolean restrictsForeground() {
    return foregroundRestricted;
  }

  @Override
  public boolean allowsUnguarded() {
    return onUnavailable == OnUnavailable.ALLOW;
  }

  int bulkForegroundMax() {
    return bulkForegroundMax;
  }

  long retryAfterSeconds() {
    return retryAfter.seconds();
  }

  @Override
  public long timeoutMillis(LockType type) {
    return (type == LockType.FOREGROUND ? foregroundTimeout : backgroundTimeout).millis();
  }

  /**
   * No more for background than for foreground, whatever is set: else it would be foreground that gives way. (To refuse
   * such settings would not do. They differ between nodes, with their heaps and files, and a node that refuses what the
   * cluster has taken is lost.)
   */
  @Override
  public int maxRequests(LockType type) {
    return type == LockType.FOREGROUND ? foregroundMaxRequests : Math.min(backgroundMaxRequests, foregroundMaxRequests);
  }

  @Override
  public long maxBytes(LockType type) {
    long foreground = foregroundMaxBytes.getBytes();
    return type == LockType.FOREGROUND ? foreground : Math.min(backgroundMaxBytes.getBytes(), foreground);
  }

  @Override
  public int mostLeases() {
    return mostLeases;
  }

  @Override
  public long mostKeepMillis() {
    return mostKeep.millis();
  }

  @Override
  public long mostWaitMillis() {
    return mostWait.millis();
  }
}
