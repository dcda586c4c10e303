package example.views;

import java.util.Collection;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.elasticsearch.cluster.metadata.IndexNameExpressionResolver;
import org.elasticsearch.cluster.node.DiscoveryNodes;
import org.elasticsearch.common.io.stream.NamedWriteableRegistry;
import org.elasticsearch.common.settings.ClusterSettings;
import org.elasticsearch.common.settings.IndexScopedSettings;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.common.settings.SettingsFilter;
import org.elasticsearch.features.NodeFeature;
import org.elasticsearch.plugins.ActionPlugin;
import org.elasticsearch.plugins.Plugin;
import org.elasticsearch.rest.RestController;
import org.elasticsearch.rest.RestHandler;
import org.forelock.ForelockClient;
import org.forelock.search.LockContext;

/** A plugin that stands on the Forelock plugin of its node: POST /_views/{index}/{id} counts a view of an article. */
public final class ViewsPlugin extends Plugin implements ActionPlugin {
  volatile ForelockClient locks;
  volatile LockContext context;

  @Override
  public Collection<RestHandler> getRestHandlers(Settings settings, NamedWriteableRegistry registry,
      RestController controller, ClusterSettings cluster, IndexScopedSettings index, SettingsFilter filter,
      IndexNameExpressionResolver resolver, Supplier<DiscoveryNodes> nodes, Predicate<NodeFeature> features) {
    return List.of(new CountView(locks, context));
  }
}
