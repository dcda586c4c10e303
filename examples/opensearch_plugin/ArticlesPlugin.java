package example.articles;

import java.util.List;
import java.util.function.Supplier;
import org.forelock.ForelockClient;
import org.forelock.LockType;
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
import org.opensearch.rest.RestHandler.Route;
import org.opensearch.rest.RestRequest;

/**
 * A plugin that stands on the Forelock plugin of its node. A person who waits saves an article in the foreground; bulk
 * propagation changes many in the background.
 */
public final class ArticlesPlugin extends Plugin implements ActionPlugin {
  volatile ForelockClient locks;
  volatile LockContext context;

  @Override
  public List<RestHandler> getRestHandlers(Settings settings, RestController controller, ClusterSettings cluster,
      IndexScopedSettings index, SettingsFilter filter, IndexNameExpressionResolver resolver,
      Supplier<DiscoveryNodes> nodes) {
    return List.of(
        new ChangeArticles("Save Content", LockType.FOREGROUND, "saves",
            new Route(RestRequest.Method.POST, "/_articles/{index}/save/{ids}"), locks, context),
        new ChangeArticles("Bulk Propagation", LockType.BACKGROUND, "propagations",
            new Route(RestRequest.Method.POST, "/_articles/{index}/propagate/{ids}"), locks, context));
  }
}
