package org.forelock.opensearch;

import java.io.IOException;
import org.opensearch.action.DocWriteRequest;
import org.opensearch.action.bulk.BulkItemResponse;
import org.opensearch.action.support.ActiveShardCount;
import org.opensearch.action.update.UpdateRequest;
import org.opensearch.cluster.ClusterState;
import org.opensearch.cluster.metadata.IndexMetadata;
import org.opensearch.cluster.metadata.IndexNameExpressionResolver;
import org.opensearch.cluster.routing.IndexShardRoutingTable;
import org.opensearch.cluster.routing.OperationRouting;
import org.opensearch.common.unit.TimeValue;
import org.opensearch.core.index.shard.ShardId;
import org.opensearch.threadpool.ThreadPool;
import org.opensearch.transport.TransportChannel;
import org.opensearch.transport.TransportRequest;

/** The parts of OpenSearch that differ from Elasticsearch, for the sources that both plugins share. */
final class SearchEngine {
  /** The prefix of an exception's metadata keys. */
  static final String PREFIX = "opensearch.";

  private SearchEngine() {}

  /** @return null: there is none of that name */
  static IndexMetadata index(ClusterState state, String name) {
    return state.metadata().index(name);
  }

  static Iterable<IndexMetadata> indices(ClusterState state) {
    return state.metadata();
  }

  /** @throws org.opensearch.index.IndexNotFoundException if it is to be created first */
  static String writeIndex(IndexNameExpressionResolver resolver, ClusterState state, UpdateRequest request) {
    return resolver.concreteWriteIndex(state, request).getName();
  }

  /** The routing value of a write into an index or alias. */
  static String routing(ClusterState state, String routing, String index) {
    return state.metadata().resolveWriteIndexRouting(routing, index);
  }

  /** That of an update of an index. */
  static ShardId shard(ClusterState state, UpdateRequest update) {
    IndexMetadata index = state.metadata().index(update.index());
    return new ShardId(index.getIndex(), OperationRouting.generateShardId(index, update.id(), update.routing()));
  }

  /** The copies of a shard. @return null: its index is not there any more */
  static IndexShardRoutingTable copies(ClusterState state, ShardId shard) {
    return state.routingTable().hasIndex(shard.getIndex()) ? state.routingTable().shardRoutingTable(shard) : null;
  }

  static boolean areEnough(ActiveShardCount count, IndexShardRoutingTable copies) {
    return count.enoughShardsActive(copies);
  }

  /** Keeps a request that is needed for longer than its handler runs: nothing to do here. */
  static void keep(TransportRequest request) {}

  static void letGo(TransportRequest request) {}

  /** Answers a request that came from a node. */
  static void refuse(TransportChannel channel, Exception problem) {
    try {
      channel.sendResponse(problem);
    } catch (IOException gone) {
      problem.addSuppressed(gone);
      throw new IllegalStateException(problem);
    }
  }

  /** Not if the node is closed before. */
  static void later(ThreadPool threads, long millis, Runnable task) {
    threads.scheduleUnlessShuttingDown(TimeValue.timeValueMillis(millis), ThreadPool.Names.GENERIC, task);
  }

  /** Of an item. */
  static BulkItemResponse.Failure cause(String index, String id, Exception problem) {
    return new BulkItemResponse.Failure(index, id, problem);
  }

  static BulkItemResponse failure(int id, DocWriteRequest.OpType type, BulkItemResponse.Failure failure) {
    return new BulkItemResponse(id, type, failure);
  }
}
