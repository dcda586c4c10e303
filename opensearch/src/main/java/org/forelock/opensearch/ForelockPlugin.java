package org.forelock.opensearch;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.forelock.ForelockException;
import org.forelock.search.Folders;
import org.forelock.search.ForelockExtension;
import org.forelock.search.Headers;
import org.forelock.search.NodeLetters;
import org.opensearch.action.ActionRequest;
import org.opensearch.action.support.ActionFilter;
import org.opensearch.cluster.metadata.IndexNameExpressionResolver;
import org.opensearch.cluster.node.DiscoveryNodes;
import org.opensearch.cluster.service.ClusterService;
import org.opensearch.common.lifecycle.LifecycleComponent;
import org.opensearch.common.settings.ClusterSettings;
import org.opensearch.common.settings.IndexScopedSettings;
import org.opensearch.common.settings.Setting;
import org.opensearch.common.settings.Settings;
import org.opensearch.common.settings.SettingsFilter;
import org.opensearch.common.util.concurrent.ThreadContext;
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
    ThreadContext context = threads.getThreadContext();
    context.registerThreadContextStatePropagator(new Carrier());
    parts = new Parts(settings, folders, cluster, threads, resolver, actions);
    letters = openQueue(folders);
    WriteQueue queue = letters == null ? null : new WriteQueue(letters, parts.locks, parts.requests, parts,
        parts.workers, context, parts.stats, parts.planner::localNode, parts.identity::own);
    filter = parts.filter(new LateWrites(cluster, context, queue));
    parts.lend(extensions);
    return List.of(parts);
  }

  /** @return null: there is to be none */
  private NodeLetters openQueue(Folders folders) {
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
          WriteLetter.TYPE, parts.client, parts.factory.openQueue(folders.data),
          retries < 0 ? parts.factory.retries() : retries);
    } catch (ForelockException problem) {
      throw new IllegalArgumentException("forelock.queue.mode: " + problem.getMessage()
          + (problem.hint().isEmpty() ? "" : " (" + problem.hint() + ")"), problem);
    }
  }

  @Override
  public void onIndexModule(IndexModule index) {
    parts.writes.follow(index);
    index.addIndexEventListener(parts.plain.listener(this::hasEngine));
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

  /** For what needs one alone: an index can have the engine of one plugin. */
  @Override
  public Optional<EngineFactory> getEngineFactory(IndexSettings index) {
    return !hasEngine(index) ? Optional.empty()
        : Optional.of(GuardedEngine.factory(pool.getThreadContext(), parts.stats));
  }

  /** Whether the primary of an index that is opened checks at each document, too, and can fence. */
  boolean hasEngine(IndexSettings index) {
    return OwnSettings.ENGINE.get(settings) && ArchivedSettings.get(OwnSettings.INDEX_FENCING, index.getSettings())
        && !index.isRemoteSnapshot() && !index.getIndexMetadata().isSystem();
  }

  @Override
  public List<ActionHandler<? extends ActionRequest, ? extends ActionResponse>> getActions() {
    return List.of(new ActionHandler<>(Questions.LOCKS, Questions.LocksAction.class),
        new ActionHandler<>(Questions.METRICS, Questions.MetricsAction.class),
        new ActionHandler<>(Questions.STATS, Questions.StatsAction.class),
        new ActionHandler<>(Questions.CANCEL, Questions.CancelAction.class),
        new ActionHandler<>(Questions.PRIORITIZE, Questions.PrioritizeAction.class),
        new ActionHandler<>(Questions.FOREGROUND, Questions.ForegroundAction.class),
        new ActionHandler<>(Questions.LEASE_TAKE, LeaseActions.Take.class),
        new ActionHandler<>(Questions.LEASE_USE, LeaseActions.Use.class),
        new ActionHandler<>(Questions.LEASE_LIST, LeaseActions.All.class),
        new ActionHandler<>(Refence.ACTION, Refence.Act.class));
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
  @SuppressWarnings("removal") // there is no other way to see each request first
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
    return CommonParts.headers();
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
    NodeLetters queue = letters;
    if (all != null) {
      all.close(queue == null ? () -> {} : queue::close);
    }
  }
}
