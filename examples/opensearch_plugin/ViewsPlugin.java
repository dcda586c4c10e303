package example.views;

import java.util.List;
import java.util.function.Supplier;
import org.forelock.ForelockClient;
import org.forelock.search.LockContext;
import org.opensearch.cluster.metadata.IndexNameExpressionResolver;
import org.opensearch.cluster.node.DiscoveryNodes;
import org.opensearch.common.settings.ClusterSettings;
import org.opensearch.common.settings.IndexScopedSettings;
import org.opensearch.common.settings.Settings;
import org.opensearch.common.settings.SettingsFilter;
import org.opensearch.plugins.ActionPlugin;
import org.opensearch.plugins.Plugin;
import org.opensearch.rest.RestController;
import org.opensearch.rest.RestHandler;

/** A plugin that stands on the Forelock plugin of its node: POST /_views/{index}/{id} counts a view of an article. */
public final class ViewsPlugin extends Plugin implements ActionPlugin {
  volatile ForelockClient locks;
  volatile LockContext context;

  @Override
  public List<RestHandler> getRestHandlers(Settings settings, RestController controller, ClusterSettings cluster,
      IndexScopedSettings index, SettingsFilter filter, IndexNameExpressionResolver resolver,
      Supplier<DiscoveryNodes> nodes) {
    return List.of(new CountView(locks, context));
  }
}
