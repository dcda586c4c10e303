package org.forelock.opensearch;

import java.util.Set;
import java.util.TreeSet;
import org.opensearch.action.ActionRequest;
import org.opensearch.action.DocWriteRequest;
import org.opensearch.action.bulk.BulkItemRequest;
import org.opensearch.action.bulk.BulkShardRequest;
import org.opensearch.action.index.IndexRequest;
import org.opensearch.action.update.UpdateRequest;
import org.opensearch.cluster.ClusterState;
import org.opensearch.cluster.metadata.IndexAbstraction;
import org.opensearch.cluster.metadata.IndexMetadata;
import org.opensearch.cluster.metadata.IndexNameExpressionResolver;
import org.opensearch.cluster.service.ClusterService;
import org.opensearch.common.settings.Settings;
import org.opensearch.common.util.concurrent.ThreadContext;
import org.opensearch.index.IndexNotFoundException;
import org.opensearch.index.VersionType;

/** A WritePlanner decides whether a write is guarded, and by which monitors. Thread-safe. */
final class WritePlanner {
  private final ClusterService cluster;
  private final IndexNameExpressionResolver resolver;
  private final ThreadContext context;
  private final HeldRequests requests;
  private final boolean engine;

  /** @param engine whether writes can be fenced */
  WritePlanner(ClusterService cluster, IndexNameExpressionResolver resolver, ThreadContext context,
      HeldRequests requests, boolean engine) {
    this.cluster = cluster;
    this.resolver = resolver;
    this.context = context;
    this.requests = requests;
    this.engine = engine;
  }

  String localNode() {
    return cluster.localNode().getId();
  }

  /** The name by which a later request writes into this index: a data stream's, for one of its own. */
  String writeName(String index) {
    IndexAbstraction known = cluster.state().metadata().getIndicesLookup().get(index);
    return known == null || known.getParentDataStream() == null ? index : known.getParentDataStream().getName();
  }

  /**
   * The plan for one request.
   *
   * @return null if it is not guarded
   * @throws IllegalArgumentException if the request is invalid for a guarded index
   * @throws org.opensearch.OpenSearchStatusException if it must be guarded, and the index is not
   */
  WritePlan plan(String action, ActionRequest request) {
    if (request instanceof BulkShardRequest) {
      return planShardBulk((BulkShardRequest) request);
    }
    if (request instanceof UpdateRequest) {
      return planUpdate((UpdateRequest) request);
    }
    return null;
  }

  /**
   * The plan of a node that guards nothing, for a request that must be guarded.
   *
   * @return null if it is no write of documents itself
   * @throws org.opensearch.OpenSearchStatusException otherwise
   */
  WritePlan refuseUnguarded(ActionRequest request) {
    if (request instanceof BulkShardRequest) {
      throw Refusals.notGuarded(((BulkShardRequest) request).shardId().getIndexName());
    }
    if (request instanceof UpdateRequest) {
      throw Refusals.notGuarded(((UpdateRequest) request).index());
    }
    return null;
  }

  private WritePlan planShardBulk(BulkShardRequest request) {
    String index = request.shardId().getIndexName();
    Settings settings = guarded(cluster.state(), index);
    if (settings == null) {
      return null;
    }
    MonitorRule rule = ForelockSettings.INDEX_MONITOR.get(settings);
    boolean fencing = fencing(index, settings);
    BulkItemRequest[] items = request.items();
    String[] itemMonitors = new String[items.length];
    Set<String> monitors = new TreeSet<>();
    for (int i = 0; i < items.length; ++i) {
      DocWriteRequest<?> write = items[i].request();
      if (rule.byId() && isNew(write)) {
        continue;
      }
      if (fencing) {
        checkVersion(write);
      }
      itemMonitors[i] = rule.monitor(index, write, write.routing());
      monitors.add(itemMonitors[i]);
    }
    if (monitors.isEmpty()) {
      return null;
    }
    String update = context.getHeader(Headers.UPDATE_GUARD);
    if (update != null && covers(Guard.parse(update), monitors)) {
      return new WritePlan(update);
    }
    String info = monitors.size() == 1 ? "write " + monitors.iterator().next()
        : "bulk of " + items.length + " into " + index;
    return new WritePlan(Headers.priority(context), monitors, itemMonitors, fencing, info, request.ramBytesUsed(),
        request.timeout().millis());
  }

  /** What has several monitors comes from a request that is held on this node. */
  private boolean covers(Guard guard, Set<String> monitors) {
    if (guard.allowed() || !guard.monitor.isEmpty()) {
      return guard.allowed() || monitors.size() == 1 && monitors.contains(guard.monitor);
    }
    HeldRequest held = guard.node.equals(localNode()) ? requests.get(guard.ticket) : null;
    return held != null && held.locks.holds(monitors);
  }

  /** What an index promises and the node cannot keep must not be written. */
  private boolean fencing(String index, Settings settings) {
    boolean fencing = ForelockSettings.INDEX_FENCING.get(settings);
    if (fencing && !engine) {
      throw new IllegalArgumentException("[" + index + "] has index.forelock.fencing, for which this node needs "
          + "forelock.engine.enabled: true; nothing was written");
    }
    return fencing;
  }

  /** A document whose id this node has just made up: no other request can mean it. */
  static boolean isNew(DocWriteRequest<?> write) {
    return write instanceof IndexRequest
        && ((IndexRequest) write).getAutoGeneratedTimestamp() != IndexRequest.UNSET_AUTO_GENERATED_TIMESTAMP;
  }

  private static void checkVersion(DocWriteRequest<?> write) {
    if (write.versionType() != VersionType.INTERNAL) {
      throw new IllegalArgumentException("document [" + write.id()
          + "]: with index.forelock.fencing the version is the lock's token; version_type must not be given");
    }
  }

  private WritePlan planUpdate(UpdateRequest request) {
    ClusterState state = cluster.state();
    String index;
    try {
      index = resolver.concreteWriteIndex(state, request).getName();
    } catch (IndexNotFoundException created) {
      return null; // it is created first, and the write comes as a shard bulk
    }
    Settings settings = guarded(state, index);
    if (settings == null) {
      return null;
    }
    String routing = state.metadata().resolveWriteIndexRouting(request.routing(), request.index());
    String monitor = ForelockSettings.INDEX_MONITOR.get(settings).monitor(index, request, routing);
    return new WritePlan(Headers.priority(context), Set.of(monitor), null, fencing(index, settings),
        "update " + monitor, request.ramBytesUsed(), request.timeout().millis());
  }

  /** The index's settings, or null if this write into it is not guarded. */
  private Settings guarded(ClusterState state, String index) {
    IndexMetadata metadata = state.metadata().index(index);
    if (metadata == null || metadata.isSystem() || !ForelockSettings.INDEX_ENABLED.get(metadata.getSettings())) {
      if (Headers.requiresLock(context)) {
        throw Refusals.notGuarded(index);
      }
      return null;
    }
    boolean ofTheNode =
        context.isSystemContext() || context.getTransient(ThreadContext.ACTION_ORIGIN_TRANSIENT_NAME) != null;
    return ofTheNode ? null : metadata.getSettings();
  }
}
