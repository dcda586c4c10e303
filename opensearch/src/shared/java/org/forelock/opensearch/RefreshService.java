package org.forelock.opensearch;

import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.opensearch.cluster.ClusterState;
import org.opensearch.cluster.node.DiscoveryNode;
import org.opensearch.cluster.routing.IndexShardRoutingTable;
import org.opensearch.cluster.routing.ShardRouting;
import org.opensearch.cluster.service.ClusterService;
import org.opensearch.core.index.shard.ShardId;
import org.opensearch.index.shard.IndexShard;
import org.opensearch.index.translog.Translog.Location;
import org.opensearch.indices.IndicesService;

/**
 * A RefreshService asks the nodes of a shard's copies when written documents become visible, and answers such
 * questions: {@code refresh=wait_for} waits for that without the locks of the write. Thread-safe.
 */
final class RefreshService implements Refreshes {
  private static final String QUESTION = "internal:plugin/forelock/refreshed";
  private static final String FORCED = "forced";

  private final Peers peers;
  private final ClusterService cluster;
  private final IndicesService indices;
  private final LastWrites writes;

  RefreshService(Peers peers, ClusterService cluster, IndicesService indices, LastWrites writes) {
    this.peers = peers;
    this.cluster = cluster;
    this.indices = indices;
    this.writes = writes;
    // Where too many wait, the shard is refreshed in this thread.
    peers.serveBlocking(QUESTION, (question, reply) ->
        here(Shards.id(Shards.from(question)), forced -> reply.accept(Map.of(FORCED, forced))));
  }

  private void here(ShardId id, Consumer<Boolean> shown) {
    IndexShard shard = indices.getShardOrNull(id);
    Location location = writes.of(id);
    if (shard == null || location == null) {
      shown.accept(false);
    } else {
      shard.addRefreshListener(location, shown);
    }
  }

  @Override
  public void await(ShardId shard, Consumer<Boolean> shown) {
    ClusterState state = cluster.state();
    IndexShardRoutingTable table = SearchEngine.copies(state, shard);
    List<ShardRouting> copies = table == null ? List.of() : table.activeShards();
    AtomicInteger left = new AtomicInteger(copies.size() + 1);
    AtomicBoolean forced = new AtomicBoolean();
    Consumer<Boolean> one = byForce -> {
      forced.compareAndSet(false, byForce);
      if (left.decrementAndGet() == 0) {
        shown.accept(forced.get());
      }
    };
    for (ShardRouting copy : copies) {
      DiscoveryNode node = state.nodes().get(copy.currentNodeId());
      if (node == null) {
        one.accept(false);
      } else { // a copy that is not there any more shows nothing old
        peers.ask(node, QUESTION, Shards.values(Shards.of(shard)), null,
            (values, problem) -> one.accept(problem == null && (Boolean) values.get(FORCED)));
      }
    }
    one.accept(false);
  }
}
