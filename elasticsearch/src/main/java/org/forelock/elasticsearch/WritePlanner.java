package org.forelock.elasticsearch;

import java.util.Set;
import java.util.TreeSet;
import org.elasticsearch.action.ActionRequest;
import org.elasticsearch.action.DocWriteRequest;
import org.elasticsearch.action.bulk.BulkItemRequest;
import org.elasticsearch.action.bulk.BulkShardRequest;
import org.elasticsearch.action.index.IndexRequest;
import org.elasticsearch.action.update.UpdateRequest;
import org.elasticsearch.cluster.ClusterState;
import org.elasticsearch.cluster.metadata.IndexMetadata;
import org.elasticsearch.cluster.metadata.IndexNameExpressionResolver;
import org.elasticsearch.cluster.service.ClusterService;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.common.util.concurrent.ThreadContext;
import org.elasticsearch.index.IndexNotFoundException;
import org.forelock.search.DocumentTokens;
import org.forelock.search.Guard;
import org.forelock.search.Headers;
import org.forelock.search.HeldRequest;
import org.forelock.search.HeldRequests;
import org.forelock.search.HeldTokens;
import org.forelock.search.MonitorRule;
import org.forelock.search.Refusals;
import org.forelock.search.Words;
import org.forelock.search.WritePlan;

/** A WritePlanner decides whether a write is guarded, and by which monitors. Thread-safe. */
final class WritePlanner {
  private final ClusterService cluster;
  private final IndexNameExpressionResolver resolver;
  private final ThreadContext context;
  private final Words words;
  private final HeldRequests requests;
  final ActiveCopies copies;

  WritePlanner(ClusterService cluster, IndexNameExpressionResolver resolver, ThreadContext context,
      HeldRequests requests) {
    this.cluster = cluster;
    this.resolver = resolver;
    this.context = context;
    this.words = Carrier.words(context);
    this.requests = requests;
    this.copies = new ActiveCopies(cluster, context);
  }

  String localNode() {
    return cluster.localNode().getId();
  }

  /**
   * The plan for one request.
   *
   * @return null if it is not guarded
   * @throws IllegalArgumentException if the request is invalid for a guarded index
   * @throws org.forelock.search.Refusal if it must be guarded, and the index is not
   */
  WritePlan plan(String action, ActionRequest request) {
    if (isOfTheNode()) {
      return null;
    }
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
   * @throws org.forelock.search.Refusal otherwise
   */
  WritePlan refuseUnguarded(ActionRequest request) {
    if (isOfTheNode()) {
      return null;
    }
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
    MonitorRule rule = ArchivedSettings.get(ForelockSettings.INDEX_MONITOR, settings);
    BulkItemRequest[] items = request.items();
    String[] itemMonitors = new String[items.length];
    Set<String> monitors = new TreeSet<>();
    for (int i = 0; i < items.length; ++i) {
      DocWriteRequest<?> write = items[i].request();
      if (rule.byId() && isNew(write)) {
        continue;
      }
      try {
        itemMonitors[i] = rule.monitor(index, new WriteDocument(write), write.routing());
        monitors.add(itemMonitors[i]);
      } catch (IllegalArgumentException invalid) {
        items[i].abort(index, invalid); // it alone: the primary passes it over
      }
    }
    if (monitors.isEmpty()) {
      return null;
    }
    String update = Carrier.get(context, Headers.UPDATE_GUARD);
    Guard outer = update == null ? null : Guard.parse(update);
    if (outer != null && covers(outer, monitors)) {
      return new WritePlan(update);
    }
    HeldTokens held = heldBy(monitors);
    // Where its update holds a lock, another one is not waited for: two updates could wait for each other so.
    long timeout = outer == null || outer.allowed() ? request.timeout().millis() : 0;
    String info = monitors.size() == 1 ? "write " + monitors.iterator().next()
        : "bulk of " + items.length + " into " + index;
    return new WritePlan(Headers.priority(words), monitors, itemMonitors, false, info, WriteSize.of(request),
        timeout, held, DocumentTokens.NONE);
  }

  /** What has several monitors comes from a request that is held on this node. */
  private boolean covers(Guard guard, Set<String> monitors) {
    if (!guard.monitor.isEmpty()) {
      return monitors.size() == 1 && monitors.contains(guard.monitor);
    }
    HeldRequest held = guard.node.equals(localNode()) ? requests.get(guard.ticket) : null;
    return held != null && held.locks.holds(monitors);
  }

  /** A document whose id this node has just made up: no other request can mean it. */
  static boolean isNew(DocWriteRequest<?> write) {
    return write instanceof IndexRequest
        && ((IndexRequest) write).getAutoGeneratedTimestamp() != IndexRequest.UNSET_AUTO_GENERATED_TIMESTAMP;
  }

  private WritePlan planUpdate(UpdateRequest request) {
    ClusterState state = cluster.state();
    String index;
    try {
      index = States.writeIndex(resolver, state, request);
    } catch (IndexNotFoundException created) {
      return null; // it is created first, and the write comes as a shard bulk
    }
    Settings settings = guarded(state, index);
    if (settings == null) {
      return null;
    }
    String routing = States.routing(state, request.routing(), request.index());
    String monitor = ArchivedSettings.get(ForelockSettings.INDEX_MONITOR, settings)
        .monitor(index, new WriteDocument(request), routing);
    return new WritePlan(Headers.priority(words), Set.of(monitor), null, false,
        "update " + monitor, WriteSize.of(request), request.timeout().millis(), heldBy(Set.of(monitor)),
        DocumentTokens.NONE);
  }

  /** @return null: the client does not say so */
  private HeldTokens heldBy(Set<String> monitors) {
    HeldTokens held = Headers.held(words);
    if (held != null) {
      held.check(monitors);
    }
    return held;
  }

  /** The index's settings, or null if this write into it is not guarded. */
  private Settings guarded(ClusterState state, String index) {
    IndexMetadata metadata = States.index(state, index);
    if (metadata == null || metadata.isSystem()
        || !ArchivedSettings.get(ForelockSettings.INDEX_ENABLED, metadata.getSettings())) {
      if (Headers.requiresLock(words)) {
        throw Refusals.notGuarded(index);
      }
      return null;
    }
    return metadata.getSettings();
  }

  /**
   * Whether a node does it on its own account, such as to write the result of a task; it may carry a client's words all
   * the same. This node knows it by what does not travel, another one by what it was told.
   */
  boolean isOfTheNode() {
    return context.isSystemContext() || context.getTransient(ThreadContext.ACTION_ORIGIN_TRANSIENT_NAME) != null
        || Carrier.get(context, Headers.OF_NODE) != null;
  }
}
