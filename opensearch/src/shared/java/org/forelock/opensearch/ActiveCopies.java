package org.forelock.opensearch;

import org.apache.logging.log4j.LogManager;
import org.forelock.search.Refusals;
import org.opensearch.action.ActionRequest;
import org.opensearch.action.UnavailableShardsException;
import org.opensearch.action.bulk.BulkShardRequest;
import org.opensearch.action.support.ActiveShardCount;
import org.opensearch.action.update.UpdateRequest;
import org.opensearch.cluster.ClusterState;
import org.opensearch.cluster.ClusterStateObserver;
import org.opensearch.cluster.metadata.IndexMetadata;
import org.opensearch.cluster.routing.IndexShardRoutingTable;
import org.opensearch.cluster.service.ClusterService;
import org.opensearch.common.unit.TimeValue;
import org.opensearch.common.util.concurrent.ThreadContext;
import org.opensearch.core.action.ActionListener;
import org.opensearch.core.index.shard.ShardId;

/**
 * The ActiveCopies that a write waits for ({@code wait_for_active_shards}, and the primary at least) are awaited before
 * its locks, not under them, since nothing is written meanwhile. Thread-safe; never blocks.
 */
final class ActiveCopies {
  private final ClusterService cluster;
  private final ThreadContext context;

  ActiveCopies(ClusterService cluster, ThreadContext context) {
    this.cluster = cluster;
    this.context = context;
  }

  /**
   * Whether a write can be done now, as far as this node knows. So it says, too, where its shard cannot be told: then
   * the write fails by itself.
   */
  boolean enough(ActionRequest request) {
    return enough(request, cluster.state());
  }

  private boolean enough(ActionRequest request, ClusterState state) {
    ShardId shard = shardOf(request, state);
    IndexMetadata metadata = shard == null ? null : SearchEngine.index(state, shard.getIndexName());
    IndexShardRoutingTable copies = metadata == null ? null : SearchEngine.copies(state, shard);
    if (copies == null) {
      return true;
    }
    ActiveShardCount count = request instanceof UpdateRequest ? ((UpdateRequest) request).waitForActiveShards()
        : ((BulkShardRequest) request).waitForActiveShards();
    if (count == ActiveShardCount.DEFAULT) {
      count = metadata.getWaitForActiveShards();
    }
    return copies.primaryShard().active() && SearchEngine.areEnough(count, copies);
  }

  private ShardId shardOf(ActionRequest request, ClusterState state) {
    if (request instanceof BulkShardRequest) {
      return ((BulkShardRequest) request).shardId();
    }
    UpdateRequest update = (UpdateRequest) request;
    if (SearchEngine.index(state, update.index()) == null) {
      return null; // an alias
    }
    return SearchEngine.shard(state, update);
  }

  /**
   * Waits until it can.
   *
   * @param timeout after which it fails (503), as it would without locks; null: never
   */
  void await(ActionRequest request, TimeValue timeout, ActionListener<Void> then) {
    ClusterState known = cluster.state();
    if (enough(request, known)) { // since it was asked
      then.onResponse(null);
      return;
    }
    ClusterStateObserver observer =
        new ClusterStateObserver(known, cluster, timeout, LogManager.getLogger(getClass()), context);
    observer.waitForNextChange(new ClusterStateObserver.Listener() {
      @Override
      public void onNewClusterState(ClusterState state) {
        then.onResponse(null);
      }

      @Override
      public void onClusterServiceClose() {
        then.onFailure(Answers.of(Refusals.closing()));
      }

      @Override
      public void onTimeout(TimeValue after) {
        ShardId shard = shardOf(request, cluster.state());
        then.onFailure(new UnavailableShardsException(shard,
            "not enough active copies within " + after + "; no lock was taken, and nothing was written"));
      }
    }, state -> enough(request, state));
  }
}
