package org.forelock.elasticsearch;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.elasticsearch.action.support.ActionFilter;
import org.elasticsearch.cluster.metadata.IndexNameExpressionResolver;
import org.elasticsearch.cluster.node.DiscoveryNodes;
import org.elasticsearch.common.io.stream.NamedWriteableRegistry;
import org.elasticsearch.common.settings.ClusterSettings;
import org.elasticsearch.common.settings.IndexScopedSettings;
import org.elasticsearch.common.settings.Setting;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.common.settings.SettingsFilter;
import org.elasticsearch.common.util.concurrent.ThreadContext;
import org.elasticsearch.env.Environment;
import org.elasticsearch.features.NodeFeature;
import org.elasticsearch.index.IndexModule;
import org.elasticsearch.plugins.ExtensiblePlugin;
import org.elasticsearch.plugins.NetworkPlugin;
import org.elasticsearch.rest.RestController;
import org.elasticsearch.rest.RestHandler;
import org.elasticsearch.rest.RestHeaderDefinition;
import org.elasticsearch.transport.TransportInterceptor;
import org.forelock.search.Folders;
import org.forelock.search.ForelockExtension;
import org.forelock.search.Headers;

/** The plugin: writes into guarded indices wait for their locks. */
@SuppressWarnings("deprecation") // there is no other way to see what comes from another node
public final class ForelockPlugin extends PluginBase implements NetworkPlugin, ExtensiblePlugin {
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
  public Collection<?> createComponents(PluginServices node) {
    Environment places = node.environment();
    parts = new Parts(settings, new Folders(places.configDir(), places.pluginsDir(), null),
        node.clusterService(), node.threadPool(), node.indexNameExpressionResolver(), node.client()::execute);
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
  public List<TransportInterceptor> getTransportInterceptors(
      NamedWriteableRegistry registry, ThreadContext threadContext) {
    return List.of(parts.check);
  }

  @Override
  public Collection<RestHandler> getRestHandlers(Settings all, NamedWriteableRegistry registry,
      RestController controller, ClusterSettings clusterSettings, IndexScopedSettings indexSettings,
      SettingsFilter filtered, IndexNameExpressionResolver resolver, Supplier<DiscoveryNodes> nodes,
      Predicate<NodeFeature> features) {
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
