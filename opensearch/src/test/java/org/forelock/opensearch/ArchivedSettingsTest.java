package org.forelock.opensearch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.opensearch.Version;
import org.opensearch.cluster.ClusterChangedEvent;
import org.opensearch.cluster.ClusterName;
import org.opensearch.cluster.ClusterState;
import org.opensearch.cluster.metadata.IndexMetadata;
import org.opensearch.cluster.metadata.Metadata;
import org.opensearch.common.settings.Settings;

class ArchivedSettingsTest {
  private final List<String> logged = new ArrayList<>();
  private final ArchivedSettings archived = new ArchivedSettings((level, text) -> logged.add(text));

  @Test
  void whatWasPutAwayCountsUntilSomethingElseIsSet() {
    Settings away = Settings.builder().put("archived.index.forelock.enabled", true)
        .put("archived.index.forelock.monitor", "id").build();
    assertTrue(ArchivedSettings.get(ForelockSettings.INDEX_ENABLED, away));
    assertTrue(ArchivedSettings.get(ForelockSettings.INDEX_MONITOR, away).byId());
    assertFalse(ArchivedSettings.get(OwnSettings.INDEX_FENCING, away));
    Settings off = Settings.builder().put(away).put("index.forelock.enabled", false).build();
    assertFalse(ArchivedSettings.get(ForelockSettings.INDEX_ENABLED, off));
    assertFalse(ArchivedSettings.get(ForelockSettings.INDEX_ENABLED, Settings.EMPTY));
  }

  private static ClusterState state(Settings cluster, String key) {
    Settings index = Settings.builder().put(IndexMetadata.SETTING_VERSION_CREATED, Version.CURRENT)
        .put(IndexMetadata.SETTING_NUMBER_OF_SHARDS, 1).put(IndexMetadata.SETTING_NUMBER_OF_REPLICAS, 0)
        .put(key, true).build();
    return ClusterState.builder(ClusterName.DEFAULT).metadata(Metadata.builder().persistentSettings(cluster)
        .put(IndexMetadata.builder("articles").settings(index))).build();
  }

  @Test
  void theLogTellsOnceAndTheStatisticsAsLongAsItIsSo() {
    ClusterState none = ClusterState.builder(ClusterName.DEFAULT).build();
    ClusterState good = state(Settings.EMPTY, "index.forelock.enabled");
    ClusterState bad = state(
        Settings.builder().put("archived.forelock.enabled", true).build(), "archived.index.forelock.enabled");
    archived.clusterChanged(new ClusterChangedEvent("test", bad, none));
    archived.clusterChanged(new ClusterChangedEvent("test", bad, good));
    assertEquals(2, logged.size());
    assertEquals(logged, archived.problems());
    assertTrue(logged.get(0).contains("archived.forelock.enabled"), logged.get(0));
    assertTrue(logged.get(1).contains("[articles]"), logged.get(1));
    archived.clusterChanged(new ClusterChangedEvent("test", good, bad));
    assertEquals(List.of(), archived.problems());
    assertEquals(2, logged.size());
  }
}
