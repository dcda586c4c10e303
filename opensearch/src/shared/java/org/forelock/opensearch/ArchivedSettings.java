package org.forelock.opensearch;

import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import org.opensearch.cluster.ClusterChangedEvent;
import org.opensearch.cluster.ClusterState;
import org.opensearch.cluster.ClusterStateListener;
import org.opensearch.cluster.metadata.IndexMetadata;
import org.opensearch.common.settings.Setting;
import org.opensearch.common.settings.Settings;

/**
 * The ArchivedSettings are settings of the plugin that a node without it has archived, as OpenSearch does with unknown
 * settings: with the plugin back, they would silently have no effect. This class guards an index by them, and reports
 * them in the log and the statistics. Thread-safe.
 */
final class ArchivedSettings implements ClusterStateListener {
  private static final String PREFIX = "archived.";
  private static final String OF_INDEX = PREFIX + "index.forelock.";
  private static final String OF_CLUSTER = PREFIX + "forelock.";

  private final BiConsumer<Level, String> log;
  private volatile List<String> problems = List.of();

  ArchivedSettings(BiConsumer<Level, String> log) {
    this.log = log;
  }

  /** The value of a setting of an index, or the archived one. */
  static <T> T get(Setting<T> setting, Settings settings) {
    String archived = setting.exists(settings) ? null : settings.get(PREFIX + setting.getKey());
    return setting.get(archived == null ? settings : Settings.builder().put(setting.getKey(), archived).build());
  }

  /** Problems for an operator to correct. */
  List<String> problems() {
    return problems;
  }

  @Override
  public void clusterChanged(ClusterChangedEvent event) {
    if (!event.metadataChanged()) {
      return;
    }
    List<String> found = find(event.state());
    if (!found.equals(problems)) {
      problems = found;
      found.forEach(problem -> log.accept(Level.WARNING, problem));
    }
  }

  private static List<String> find(ClusterState state) {
    List<String> found = new ArrayList<>();
    Set<String> cluster = keys(state.metadata().settings(), OF_CLUSTER);
    if (!cluster.isEmpty()) {
      found.add("the cluster was started without the plugin, and its settings " + cluster + " do NOT COUNT since then; "
          + "set them to null, and then anew without the prefix");
    }
    for (IndexMetadata index : SearchEngine.indices(state)) {
      Set<String> keys = keys(index.getSettings(), OF_INDEX);
      if (!keys.isEmpty()) {
        found.add("the index [" + index.getIndex().getName() + "] was started without the plugin, which may have let "
            + "writes through; it is guarded by its archived settings " + keys + ". Close it, set them to null and "
            + "anew without the prefix, and open it");
      }
    }
    return found;
  }

  private static Set<String> keys(Settings settings, String prefix) {
    Set<String> keys = new TreeSet<>();
    for (String key : settings.keySet()) {
      if (key.startsWith(prefix)) {
        keys.add(key);
      }
    }
    return keys;
  }
}
