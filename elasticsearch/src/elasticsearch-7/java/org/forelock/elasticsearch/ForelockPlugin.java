package org.forelock.elasticsearch;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.elasticsearch.action.ActionRequest;
import org.elasticsearch.action.ActionResponse;
import org.elasticsearch.action.support.ActionFilter;
import org.elasticsearch.cluster.metadata.IndexNameExpressionResolver;
import org.elasticsearch.cluster.node.DiscoveryNodes;
import org.elasticsearch.cluster.service.ClusterService;
import org.elasticsearch.common.component.LifecycleComponent;
import org.elasticsearch.common.io.stream.NamedWriteableRegistry;
import org.elasticsearch.common.settings.ClusterSettings;
import org.elasticsearch.common.settings.IndexScopedSettings;
import org.elasticsearch.common.settings.Setting;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.common.settings.SettingsFilter;
import org.elasticsearch.common.util.concurrent.ThreadContext.StoredContext;
import org.elasticsearch.common.util.concurrent.ThreadContext;
import org.elasticsearch.core.TimeValue;
import org.elasticsearch.index.IndexModule;
import org.elasticsearch.plugins.ActionPlugin;
import org.elasticsearch.plugins.ExtensiblePlugin;
import org.elasticsearch.plugins.NetworkPlugin;
import org.elasticsearch.rest.RestController;
import org.elasticsearch.rest.RestHandler;
import org.elasticsearch.rest.RestHeaderDefinition;
import org.elasticsearch.threadpool.ThreadPool;
import org.elasticsearch.transport.TransportInterceptor;
import org.forelock.ConfigurationException;
import org.forelock.ForelockClient;
import org.forelock.LockType;
import org.forelock.ZooKeeperUtil;
import org.forelock.search.ClientFactory;
import org.forelock.search.Folders;
import org.forelock.search.ForelockExtension;
import org.forelock.search.Headers;
import org.forelock.search.HeldRequests;
import org.forelock.search.HolderLook;
import org.forelock.search.HolderTokens;
import org.forelock.search.Leases;
import org.forelock.search.LockService;
import org.forelock.search.Names;
import org.forelock.search.NodeIdentity;
import org.forelock.search.NodeLog;
import org.forelock.search.NodeParts;
import org.forelock.search.Stats;
import org.forelock.search.Timeouts;
import org.forelock.search.UnguardedPeriods;

/** The plugin: writes into guarded indices wait for their locks. */
public final class ForelockPlugin extends PluginBase
    implements ActionPlugin, NetworkPlugin, ExtensiblePlugin {
  private final Settings settings;
  private final List<ForelockExtension> extensions = new ArrayList<>();
  private volatile Parts parts;
  private volatile WriteFilter filter;
  private volatile UnguardedPeriods unguarded;

  /**
   * Called by the node.
   *
   * @param settings the node's
   */
  public ForelockPlugin(Settings settings) {
    this.settings = settings;
  }

  /** Before the components. */
  @Override
  public void loadExtensions(ExtensionLoader loader) {
    extensions.addAll(loader.loadExtensions(ForelockExtension.class));
  }

  @Override
  Collection<Object> components(ClusterService cluster, ThreadPool threads, Folders folders,
      IndexNameExpressionResolver resolver, RestBase.Actions actions) {
    ClientFactory factory = ForelockSettings.factory(settings, folders);
    ForelockClient client;
    try {
      client = factory.open();
    } catch (ConfigurationException problem) {
      throw new IllegalArgumentException("forelock: " + problem.getMessage(), problem);
    }
    ForelockSettings ours = new ForelockSettings(settings, cluster.getClusterSettings());
    Stats stats = new Stats();
    HeldRequests requests = new HeldRequests(
        ours, stats, PrimaryAnswer::is, (millis, task) -> later(threads, millis, task));
    LockService locks = new LockService(client, factory.lingers());
    Timeouts timeouts = new Timeouts(
        ours, factory.timeoutMillis(LockType.FOREGROUND), factory.timeoutMillis(LockType.BACKGROUND));
    ThreadContext context = threads.getThreadContext();
    WritePlanner planner = new WritePlanner(cluster, resolver, context, requests, null);
    Workers workers = new Workers(threads);
    unguarded = new UnguardedPeriods(System::nanoTime, () -> !ours.allowsUnguarded() || locks.status().connected(),
        new NodeLog()::log, task -> later(threads, 1000, task));
    NodeIdentity identity = new NodeIdentity(
        locks::identity, (millis, task) -> later(threads, millis, task), new NodeLog()::log);
    NodeParts node = new NodeParts(ours, requests, locks, timeouts,
        new HolderLook(HolderLook.by(locks::inspector), threads.generic(),
            (millis, task) -> later(threads, millis, task), System::nanoTime),
        new HolderTokens(HolderTokens.by(locks::inspector), threads.generic(), System::nanoTime),
        stats, unguarded, workers, planner::localNode, identity);
    Leases leases = new Leases(
        ours, node, threads.generic(), (millis, task) -> later(threads, millis, task), System::nanoTime);
    PrimaryCheck check = new PrimaryCheck(requests, stats, threads, cluster, ours::isStrict);
    parts = new Parts(ours, stats, requests, locks, check, leases, identity,
        new ForegroundPermit<LookAnswer>(
            ours, listener -> actions.execute(LookAction.FOREGROUND, new LookRequest(Map.of()), listener)));
    cluster.addListener(parts.archived);
    cluster.addListener(event -> {
      if (event.nodesChanged()) {
        identity.nodesChanged();
      }
    });
    filter = new WriteFilter(ours, planner, node, workers, context, new NoExtras(parts), parts, parts.permit);
    ZooKeeperUtil.use(client.borrowed());
    extensions.forEach(extension -> {
      extension.useContext(new ContextOfLocks(context));
      extension.useForelock(client.borrowed());
    });
    return List.of(parts);
  }

  /** In a context of its own: what follows is no part of the request that has begun it. */
  private static void later(ThreadPool threads, long millis, Runnable task) {
    try (StoredContext ignored = threads.getThreadContext().stashContext()) {
      threads.scheduleUnlessShuttingDown(TimeValue.timeValueMillis(millis), ThreadPool.Names.GENERIC, task);
    }
  }

  @Override
  public void onIndexModule(IndexModule index) {
    parts.writes.follow(index);
  }

  @Override
  public List<ActionFilter> getActionFilters() {
    return List.of(filter);
  }

  @Override
  public Collection<Class<? extends LifecycleComponent>> getGuiceServiceClasses() {
    return List.of(Wiring.class);
  }

  @Override
  public List<TransportInterceptor> getTransportInterceptors(
      NamedWriteableRegistry registry, ThreadContext threadContext) {
    return List.of(parts.check);
  }

  @Override
  public List<ActionHandler<? extends ActionRequest, ? extends ActionResponse>> getActions() {
    return List.of(new ActionHandler<>(NodesAction.STATS, NodesAction.StatsAction.class),
        new ActionHandler<>(NodesAction.CANCEL, NodesAction.CancelAction.class),
        new ActionHandler<>(NodesAction.PRIORITIZE, NodesAction.PrioritizeAction.class),
        new ActionHandler<>(LeaseActions.TAKE, LeaseActions.Take.class),
        new ActionHandler<>(LeaseActions.USE, LeaseActions.Use.class),
        new ActionHandler<>(LeaseActions.LIST, LeaseActions.All.class),
        new ActionHandler<>(LookAction.LOCKS, LookAction.LocksAction.class),
        new ActionHandler<>(LookAction.METRICS, LookAction.MetricsAction.class),
        new ActionHandler<>(LookAction.FOREGROUND, LookAction.ForegroundAction.class));
  }

  @Override
  public List<RestHandler> getRestHandlers(Settings all, RestController controller, ClusterSettings clusterSettings,
      IndexScopedSettings indexSettings, SettingsFilter filtered, IndexNameExpressionResolver resolver,
      Supplier<DiscoveryNodes> nodes) {
    return Rest.handlers();
  }

  @Override
  public Collection<RestHeaderDefinition> getRestHeaders() {
    return Stream.of(Headers.PRIORITY, Headers.REPORT, Headers.QUEUE, Headers.REQUIRED, Headers.HELD)
        .map(name -> new RestHeaderDefinition(name, false)).toList();
  }

  @Override
  public Collection<String> getTaskHeaders() {
    return List.of(Headers.PRIORITY);
  }

  @Override
  public List<Setting<?>> getSettings() {
    return ForelockSettings.all();
  }

  @Override
  public void close() {
    Parts all = parts;
    if (all != null) {
      all.leases.close();
      unguarded.close();
      if (!all.requests.hasPromised()) {
        all.locks.close();
      } // else the session ends by itself, when no other node goes on under its locks any more
    }
  }
}
