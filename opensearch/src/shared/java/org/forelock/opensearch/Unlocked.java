package org.forelock.opensearch;

import org.opensearch.action.bulk.BulkItemRequest;
import org.opensearch.action.bulk.BulkShardRequest;
import org.opensearch.cluster.ClusterState;
import org.opensearch.cluster.metadata.IndexMetadata;
import org.opensearch.transport.TransportRequest;

/** Writes that reach a primary without a lock: through a node that does not guard, or on the account of a node. */
final class Unlocked {
  private Unlocked() {}

  /** How many documents of it should have one. */
  static int documents(ClusterState state, TransportRequest request) {
    TransportRequest inner = GuardedSends.innerOf(request);
    IndexMetadata index = inner instanceof BulkShardRequest
        ? SearchEngine.index(state, ((BulkShardRequest) inner).shardId().getIndexName()) : null;
    if (index == null || index.isSystem()
        || !ArchivedSettings.get(ForelockSettings.INDEX_ENABLED, index.getSettings())) {
      return 0;
    }
    boolean newNeedsNone = ArchivedSettings.get(ForelockSettings.INDEX_MONITOR, index.getSettings()).byId();
    int count = 0;
    for (BulkItemRequest item : ((BulkShardRequest) inner).items()) {
      if (!newNeedsNone || !WritePlanner.isNew(item.request())) {
        ++count;
      }
    }
    return count;
  }
}
