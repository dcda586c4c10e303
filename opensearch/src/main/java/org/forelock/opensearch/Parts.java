package org.forelock.opensearch;

import org.forelock.search.Folders;
import org.opensearch.action.bulk.BulkShardRequest;
import org.opensearch.action.bulk.BulkShardResponse;
import org.opensearch.cluster.metadata.IndexMetadata;
import org.opensearch.cluster.metadata.IndexNameExpressionResolver;
import org.opensearch.cluster.service.ClusterService;
import org.opensearch.common.settings.Settings;
import org.opensearch.core.action.ActionListener;
import org.opensearch.threadpool.ThreadPool;

/** The plugin's own objects, for those that the node makes. Thread-safe. */
public final class Parts extends CommonParts implements BulkWriter {
  final PlainShards plain = new PlainShards();
  final PrimaryCheck check;
  final RestBase.Actions actions;
  private volatile BulkWriter writer;

  Parts(Settings given, Folders folders, ClusterService cluster, ThreadPool threads,
      IndexNameExpressionResolver resolver, RestBase.Actions actions) {
    super(given, folders, cluster, threads, resolver, actions, noFencing(given));
    this.actions = actions;
    check = new PrimaryCheck(requests, stats, threads,
        shard -> plain.has(shard) && isFenced(cluster, shard.index()), cluster::state, settings::isStrict);
  }

  /** @return why writes cannot be fenced; null: they can */
  private static String noFencing(Settings given) {
    return OwnSettings.ENGINE.get(given) ? null : "for which this node needs forelock.engine.enabled: true";
  }

  private static boolean isFenced(ClusterService cluster, String index) {
    IndexMetadata metadata = cluster.state().metadata().index(index);
    return metadata != null && ArchivedSettings.get(ForelockSettings.INDEX_ENABLED, metadata.getSettings())
        && ArchivedSettings.get(OwnSettings.INDEX_FENCING, metadata.getSettings());
  }

  /** To be called before the node takes requests. */
  void use(BulkWriter shards) {
    writer = shards;
  }

  @Override
  public void write(BulkShardRequest request, ActionListener<BulkShardResponse> listener) {
    writer.write(request, listener);
  }
}
