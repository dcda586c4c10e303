package org.forelock.opensearch;

import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
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
import org.opensearch.action.ActionRequest;
import org.opensearch.action.DocWriteRequest;
import org.opensearch.action.bulk.BulkItemRequest;
import org.opensearch.action.bulk.BulkShardRequest;
import org.opensearch.action.index.IndexRequest;
import org.opensearch.action.update.UpdateRequest;
import org.opensearch.cluster.ClusterState;
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
  private final Words words;
  private final HeldRequests requests;
  private final String noFencing;
  final ActiveCopies copies;

  /** @param noFencing why writes cannot be fenced; null: they can */
  WritePlanner(ClusterService cluster, IndexNameExpressionResolver resolver, ThreadContext context,
      HeldRequests requests, String noFencing) {
    this.cluster = cluster;
    this.resolver = resolver;
    this.context = context;
    this.words = Carrier.words(context);
    this.requests = requests;
    this.noFencing = noFencing;
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
    boolean fencing = fencing(index, settings);
    BulkItemRequest[] items = request.items();
    String[] itemMonitors = new String[items.length];
    Set<String> monitors = new TreeSet<>();
    boolean refused = false;
    for (int i = 0; i < items.length; ++i) {
      DocWriteRequest<?> write = items[i].request();
      if (rule.byId() && isNew(write)) {
        continue;
      }
      try {
        if (fencing) {
          checkVersion(write);
        }
        itemMonitors[i] = rule.monitor(index, new WriteDocument(write), write.routing());
        monitors.add(itemMonitors[i]);
      } catch (IllegalArgumentException invalid) {
        items[i].abort(index, invalid); // it alone: the primary passes it over
        refused = true;
      }
    }
    if (monitors.isEmpty()) { // nothing of it needs a lock, of which the primary is told where it cannot see it
      return refused ? new WritePlan(Guard.allowed("").text()) : null;
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
    return new WritePlan(Headers.priority(words), monitors, itemMonitors, fencing, rule.keepsMonitors(), info,
        WriteSize.of(request), timeout, held,
        held == null || !fencing ? DocumentTokens.NONE : DocumentTokens.of(ids(items), itemMonitors, held));
  }

  private static String[] ids(BulkItemRequest[] items) {
    return Arrays.stream(items).map(item -> item.request().id()).toArray(String[]::new);
  }

  /** What has several monitors comes from a request that is held on this node. */
  private boolean covers(Guard guard, Set<String> monitors) {
    if (!guard.monitor.isEmpty()) {
      return monitors.size() == 1 && monitors.contains(guard.monitor);
    }
    HeldRequest held = guard.node.equals(localNode()) ? requests.get(guard.ticket) : null;
    return held != null && held.locks.holds(monitors);
  }

  /** What an index promises and the node cannot keep must not be written. */
  private boolean fencing(String index, Settings settings) {
    boolean fencing = ArchivedSettings.get(OwnSettings.INDEX_FENCING, settings);
    if (fencing && noFencing != null) {
      throw new IllegalArgumentException(
          "[" + index + "] has index.forelock.fencing, " + noFencing + "; nothing was written");
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
      index = SearchEngine.writeIndex(resolver, state, request);
    } catch (IndexNotFoundException created) {
      return null; // it is created first, and the write comes as a shard bulk
    }
    Settings settings = guarded(state, index);
    if (settings == null) {
      return null;
    }
    String routing = SearchEngine.routing(state, request.routing(), request.index());
    MonitorRule rule = ArchivedSettings.get(ForelockSettings.INDEX_MONITOR, settings);
    String monitor = rule.monitor(index, new WriteDocument(request), routing);
    return new WritePlan(Headers.priority(words), Set.of(monitor), null, fencing(index, settings),
        rule.keepsMonitors(), "update " + monitor, WriteSize.of(request), request.timeout().millis(),
        heldBy(Set.of(monitor)), DocumentTokens.NONE);
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
    IndexMetadata metadata = SearchEngine.index(state, index);
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
