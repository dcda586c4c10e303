package org.forelock.opensearch;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.forelock.ConfigurationException;
import org.forelock.ForelockClient;
import org.forelock.ForelockException;
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
import org.forelock.search.NodeLetters;
import org.forelock.search.NodeLog;
import org.forelock.search.NodeParts;
import org.forelock.search.Stats;
import org.forelock.search.Timeouts;
import org.forelock.search.UnguardedPeriods;
import org.opensearch.action.ActionRequest;
import org.opensearch.action.support.ActionFilter;
import org.opensearch.cluster.metadata.IndexMetadata;
import org.opensearch.cluster.metadata.IndexNameExpressionResolver;
import org.opensearch.cluster.node.DiscoveryNodes;
import org.opensearch.cluster.service.ClusterService;
import org.opensearch.common.lifecycle.LifecycleComponent;
import org.opensearch.common.settings.ClusterSettings;
import org.opensearch.common.settings.IndexScopedSettings;
import org.opensearch.common.settings.Setting;
import org.opensearch.common.settings.Settings;
import org.opensearch.common.settings.SettingsFilter;
import org.opensearch.common.unit.TimeValue;
import org.opensearch.common.util.concurrent.ThreadContext;
import org.opensearch.common.util.concurrent.ThreadContext.StoredContext;
import org.opensearch.core.action.ActionResponse;
import org.opensearch.core.common.io.stream.NamedWriteableRegistry;
import org.opensearch.index.IndexModule;
import org.opensearch.index.IndexSettings;
import org.opensearch.index.engine.EngineFactory;
import org.opensearch.plugins.ActionPlugin;
import org.opensearch.plugins.EnginePlugin;
import org.opensearch.plugins.ExtensiblePlugin;
import org.opensearch.plugins.NetworkPlugin;
import org.opensearch.rest.RestController;
import org.opensearch.rest.RestHandler;
import org.opensearch.rest.RestHeaderDefinition;
import org.opensearch.threadpool.ThreadPool;
import org.opensearch.transport.TransportInterceptor;

/** The plugin: writes into guarded indices wait for their locks. */
public final class ForelockPlugin extends PluginBase
    implements ActionPlugin, EnginePlugin, NetworkPlugin, ExtensiblePlugin {
  private final Settings settings;
  private final List<ForelockExtension> extensions = new ArrayList<>();
  private volatile Parts parts;
  private volatile WriteFilter filter;
  private volatile NodeLetters letters;
  private volatile UnguardedPeriods unguarded;
  private volatile ThreadPool pool;

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
    pool = threads;
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
    context.registerThreadContextStatePropagator(new Carrier());
    WritePlanner planner = new WritePlanner(cluster, resolver, context, requests, noFencing());
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
    PrimaryCheck check = new PrimaryCheck(requests, stats, threads,
        OwnSettings.ENGINE.get(settings) ? index -> false : index -> isFenced(cluster, index), cluster::state,
        ours::isStrict);
    parts = new Parts(ours, stats, requests, locks, check, leases, identity,
        new ForegroundPermit<LookAnswer>(
            ours, listener -> actions.execute(LookAction.FOREGROUND, new LookRequest(Map.of()), listener)), actions);
    cluster.addListener(parts.archived);
    cluster.addListener(event -> {
      if (event.nodesChanged()) {
        identity.nodesChanged();
      }
    });
    letters = openQueue(client, factory, folders);
    WriteQueue queue = letters == null ? null
        : new WriteQueue(letters, locks, requests, parts, workers, context, stats, planner::localNode, identity::own);
    filter = new WriteFilter(ours, planner, node, workers, context, new LateWrites(cluster, context, queue), parts,
        parts.permit);
    ZooKeeperUtil.use(client.borrowed());
    extensions.forEach(extension -> {
      extension.useContext(new ContextOfLocks(context));
      extension.useForelock(client.borrowed());
    });
    return List.of(parts);
  }

  /** @return why writes cannot be fenced; null: they can */
  private String noFencing() {
    return OwnSettings.ENGINE.get(settings) ? null : "for which this node needs forelock.engine.enabled: true";
  }

  private static boolean isFenced(ClusterService cluster, String index) {
    IndexMetadata metadata = cluster.state().metadata().index(index);
    return metadata != null && ArchivedSettings.get(ForelockSettings.INDEX_ENABLED, metadata.getSettings())
        && ArchivedSettings.get(OwnSettings.INDEX_FENCING, metadata.getSettings());
  }

  /** In a context of its own: what follows is no part of the request that has begun it. */
  private static void later(ThreadPool threads, long millis, Runnable task) {
    try (StoredContext ignored = threads.getThreadContext().stashContext()) {
      threads.scheduleUnlessShuttingDown(TimeValue.timeValueMillis(millis), ThreadPool.Names.GENERIC, task);
    }
  }

  /** @return null: there is to be none */
  private NodeLetters openQueue(ForelockClient client, ClientFactory factory, Folders folders) {
    if (OwnSettings.QUEUE_MODE.get(settings) == OwnSettings.QueueMode.OFF) {
      return null;
    }
    if (folders.data == null) {
      throw new IllegalArgumentException(
          "forelock.queue.mode: this node keeps no data, so it has no place for a queue");
    }
    int retries = OwnSettings.QUEUE_RETRIES.get(settings);
    try {
      return new NodeLetters(
          WriteLetter.TYPE, client, factory.openQueue(folders.data), retries < 0 ? factory.retries() : retries);
    } catch (ForelockException problem) {
      throw new IllegalArgumentException("forelock.queue.mode: " + problem.getMessage()
          + (problem.hint().isEmpty() ? "" : " (" + problem.hint() + ")"), problem);
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
  public Optional<EngineFactory> getEngineFactory(IndexSettings index) {
    boolean plain = !OwnSettings.ENGINE.get(settings) || index.isRemoteSnapshot()
        || index.getIndexMetadata().isSystem();
    return plain ? Optional.empty() : Optional.of(GuardedEngine.factory(pool.getThreadContext(), parts.stats));
  }

  @Override
  public List<ActionHandler<? extends ActionRequest, ? extends ActionResponse>> getActions() {
    return List.of(new ActionHandler<>(NodesAction.STATS, NodesAction.StatsAction.class),
        new ActionHandler<>(NodesAction.CANCEL, NodesAction.CancelAction.class),
        new ActionHandler<>(NodesAction.PRIORITIZE, NodesAction.PrioritizeAction.class),
        new ActionHandler<>(Refence.ACTION, Refence.Act.class),
        new ActionHandler<>(Refence.HIGHEST, Refence.Highest.class),
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
    List<RestHandler> handlers = new ArrayList<>(Rest.handlers());
    handlers.add(new RefenceRest());
    return handlers;
  }

  /** Only one plugin of a node may do this, hence the settings. */
  @Override
  public UnaryOperator<RestHandler> getRestHandlerWrapper(ThreadContext threadContext) {
    boolean notes = OwnSettings.CANCEL_ON_DISCONNECT.get(settings);
    boolean takes = OwnSettings.QUEUE_MODE.get(settings) == OwnSettings.QueueMode.PARAMETER;
    return !notes && !takes ? null : handler -> RestBase.before(handler, request -> {
      if (notes) {
        Disconnections.note(threadContext, request);
      }
      if (takes) {
        QueueParameter.take(threadContext, request);
      }
    });
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
      if (letters != null) {
        letters.close();
      }
      if (!all.requests.hasPromised()) {
        all.locks.close();
      } // else the session ends by itself, when no other node goes on under its locks any more
    }
  }
}
