package org.forelock.opensearch;

import java.util.HashSet;
import java.util.Set;
import org.forelock.search.HeldRequests;
import org.forelock.search.Stats;
import org.opensearch.common.settings.ClusterSettings;
import org.opensearch.common.settings.Setting;
import org.opensearch.common.settings.Settings;

/** Settings of a node, for tests. */
final class TestSettings {
  private TestSettings() {}

  static ForelockSettings of(Settings settings) {
    Set<Setting<?>> known = new HashSet<>(ClusterSettings.BUILT_IN_CLUSTER_SETTINGS);
    ForelockSettings.all().stream().filter(Setting::hasNodeScope).forEach(known::add);
    return new ForelockSettings(settings, new ClusterSettings(settings, known));
  }

  /** With the default bounds. */
  static HeldRequests unbounded() {
    return new HeldRequests(of(Settings.EMPTY), new Stats(), PrimaryAnswer::is, (millis, task) -> {});
  }
}
