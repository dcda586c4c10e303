package org.forelock.elasticsearch;

import org.elasticsearch.action.DocWriteRequest;
import org.elasticsearch.action.bulk.BulkItemResponse;
import org.elasticsearch.action.support.ActiveShardCount;
import org.elasticsearch.action.update.UpdateRequest;
import org.elasticsearch.cluster.ClusterState;
import org.elasticsearch.cluster.metadata.IndexMetadata;
import org.elasticsearch.cluster.metadata.IndexNameExpressionResolver;
import org.elasticsearch.cluster.metadata.ProjectId;
import org.elasticsearch.cluster.routing.IndexShardRoutingTable;
import org.elasticsearch.cluster.routing.OperationRouting;
import org.elasticsearch.cluster.routing.RoutingTable;
import org.elasticsearch.core.TimeValue;
import org.elasticsearch.index.shard.ShardId;
import org.elasticsearch.threadpool.ThreadPool;
import org.elasticsearch.transport.TransportChannel;
import org.elasticsearch.transport.TransportRequest;

/**
 * The parts of Elasticsearch that differ from OpenSearch, for the sources that both plugins share; they differ between
 * Elasticsearch 8 and 9.
 */
final class SearchEngine {
  /** The prefix of an exception's metadata keys. */
  static final String PREFIX = "es.";

  private SearchEngine() {}

  /** @return null: there is none of that name */
  static IndexMetadata index(ClusterState state, String name) {
    return state.metadata().getProject(ProjectId.DEFAULT).index(name);
  }

  static Iterable<IndexMetadata> indices(ClusterState state) {
    return state.metadata().indicesAllProjects();
  }

  /** @throws org.elasticsearch.index.IndexNotFoundException if it is to be created first */
  static String writeIndex(IndexNameExpressionResolver resolver, ClusterState state, UpdateRequest request) {
    return resolver.concreteWriteIndex(state.metadata().getProject(ProjectId.DEFAULT), request).getName();
  }

  /** The routing value of a write into an index or alias. */
  static String routing(ClusterState state, String routing, String index) {
    return state.metadata().getProject(ProjectId.DEFAULT).resolveWriteIndexRouting(routing, index);
  }

  /** That of an update of an index. */
  static ShardId shard(ClusterState state, UpdateRequest update) {
    return OperationRouting.shardId(
        state.metadata().getProject(ProjectId.DEFAULT), update.index(), update.id(), update.routing());
  }

  /** The copies of a shard. @return null: its index is not there any more */
  static IndexShardRoutingTable copies(ClusterState state, ShardId shard) {
    RoutingTable table = state.routingTable(ProjectId.DEFAULT);
    return table.hasIndex(shard.getIndex()) ? table.shardRoutingTable(shard) : null;
  }

  static boolean areEnough(ActiveShardCount count, IndexShardRoutingTable copies) {
    return count.enoughShardsActive(copies).enoughShards();
  }

  /** Keeps a request that is needed for longer than its handler runs. */
  static void keep(TransportRequest request) {
    request.incRef();
  }

  static void letGo(TransportRequest request) {
    request.decRef();
  }

  /** Answers a request that came from a node. */
  static void refuse(TransportChannel channel, Exception problem) {
    channel.sendResponse(problem);
  }

  /** Not if the node is closed before. */
  static void later(ThreadPool threads, long millis, Runnable task) {
    threads.scheduleUnlessShuttingDown(TimeValue.timeValueMillis(millis), threads.generic(), task);
  }

  /** Of an item. */
  static BulkItemResponse.Failure cause(String index, String id, Exception problem) {
    return new BulkItemResponse.Failure(index, id, problem);
  }

  static BulkItemResponse failure(int id, DocWriteRequest.OpType type, BulkItemResponse.Failure failure) {
    return BulkItemResponse.failure(id, type, failure);
  }
}
