package org.forelock.elasticsearch;

import java.io.IOException;
import org.elasticsearch.action.DocWriteRequest;
import org.elasticsearch.action.bulk.BulkItemResponse;
import org.elasticsearch.action.support.ActiveShardCount;
import org.elasticsearch.action.update.UpdateRequest;
import org.elasticsearch.cluster.ClusterState;
import org.elasticsearch.cluster.metadata.IndexMetadata;
import org.elasticsearch.cluster.metadata.IndexNameExpressionResolver;
import org.elasticsearch.cluster.routing.IndexShardRoutingTable;
import org.elasticsearch.cluster.routing.OperationRouting;
import org.elasticsearch.cluster.routing.RoutingTable;
import org.elasticsearch.common.settings.ClusterSettings;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.core.TimeValue;
import org.elasticsearch.index.mapper.MapperService;
import org.elasticsearch.index.shard.ShardId;
import org.elasticsearch.threadpool.ThreadPool;
import org.elasticsearch.transport.TransportChannel;
import org.elasticsearch.transport.TransportRequest;

/**
 * The parts of Elasticsearch that differ from OpenSearch, for the sources that both plugins share; they differ between
 * the versions of Elasticsearch.
 */
final class SearchEngine {
  /** The prefix of an exception's metadata keys. */
  static final String PREFIX = "es.";

  /** It needs no settings for what is asked of it. */
  private static final OperationRouting ROUTING = new OperationRouting(
      Settings.EMPTY, new ClusterSettings(Settings.EMPTY, ClusterSettings.BUILT_IN_CLUSTER_SETTINGS));

  private SearchEngine() {}

  /** @return null: there is none of that name */
  static IndexMetadata index(ClusterState state, String name) {
    return state.metadata().index(name);
  }

  static Iterable<IndexMetadata> indices(ClusterState state) {
    return state.metadata();
  }

  /** @throws org.elasticsearch.index.IndexNotFoundException if it is to be created first */
  static String writeIndex(IndexNameExpressionResolver resolver, ClusterState state, UpdateRequest request) {
    return resolver.concreteWriteIndex(state, request).getName();
  }

  /** The routing value of a write into an index or alias. */
  static String routing(ClusterState state, String routing, String index) {
    return state.metadata().resolveWriteIndexRouting(routing, index);
  }

  /** That of an update of an index. */
  static ShardId shard(ClusterState state, UpdateRequest update) {
    return ROUTING.shardId(state, update.index(), update.id(), update.routing());
  }

  /** The copies of a shard. @return null: its index is not there any more */
  static IndexShardRoutingTable copies(ClusterState state, ShardId shard) {
    RoutingTable table = state.routingTable();
    return table.hasIndex(shard.getIndex()) ? table.shardRoutingTable(shard) : null;
  }

  static boolean areEnough(ActiveShardCount count, IndexShardRoutingTable copies) {
    return count.enoughShardsActive(copies);
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

  /** Of an item: a type is there in this version still, and always the same. */
  static BulkItemResponse.Failure cause(String index, String id, Exception problem) {
    return new BulkItemResponse.Failure(index, MapperService.SINGLE_MAPPING_NAME, id, problem);
  }

  static BulkItemResponse failure(int id, DocWriteRequest.OpType type, BulkItemResponse.Failure failure) {
    return BulkItemResponse.failure(id, type, failure);
  }
}
