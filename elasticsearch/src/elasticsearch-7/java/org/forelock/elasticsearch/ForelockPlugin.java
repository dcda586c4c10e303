package org.forelock.elasticsearch;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Supplier;
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
import org.elasticsearch.common.util.concurrent.ThreadContext;
import org.elasticsearch.index.IndexModule;
import org.elasticsearch.plugins.ActionPlugin;
import org.elasticsearch.plugins.ExtensiblePlugin;
import org.elasticsearch.plugins.NetworkPlugin;
import org.elasticsearch.rest.RestController;
import org.elasticsearch.rest.RestHandler;
import org.elasticsearch.rest.RestHeaderDefinition;
import org.elasticsearch.threadpool.ThreadPool;
import org.elasticsearch.transport.TransportInterceptor;
import org.forelock.search.Folders;
import org.forelock.search.ForelockExtension;
import org.forelock.search.Headers;

/** The plugin: writes into guarded indices wait for their locks. */
public final class ForelockPlugin extends PluginBase
    implements ActionPlugin, NetworkPlugin, ExtensiblePlugin {
  private final Settings settings;
  private final List<ForelockExtension> extensions = new ArrayList<>();
  private volatile Parts parts;
  private volatile WriteFilter filter;

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
    parts = new Parts(settings, folders, cluster, threads, resolver, actions);
    filter = parts.filter(new NoExtras(parts));
    parts.lend(extensions);
    return List.of(parts);
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
    return List.of(new ActionHandler<>(Questions.LOCKS, Questions.LocksAction.class),
        new ActionHandler<>(Questions.METRICS, Questions.MetricsAction.class),
        new ActionHandler<>(Questions.STATS, Questions.StatsAction.class),
        new ActionHandler<>(Questions.CANCEL, Questions.CancelAction.class),
        new ActionHandler<>(Questions.PRIORITIZE, Questions.PrioritizeAction.class),
        new ActionHandler<>(Questions.FOREGROUND, Questions.ForegroundAction.class),
        new ActionHandler<>(Questions.LEASE_TAKE, LeaseActions.Take.class),
        new ActionHandler<>(Questions.LEASE_USE, LeaseActions.Use.class),
        new ActionHandler<>(Questions.LEASE_LIST, LeaseActions.All.class));
  }

  @Override
  public List<RestHandler> getRestHandlers(Settings all, RestController controller, ClusterSettings clusterSettings,
      IndexScopedSettings indexSettings, SettingsFilter filtered, IndexNameExpressionResolver resolver,
      Supplier<DiscoveryNodes> nodes) {
    return Rest.handlers();
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
    if (all != null) {
      all.close();
    }
  }
}
