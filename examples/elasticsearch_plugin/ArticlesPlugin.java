package example.articles;

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
import org.elasticsearch.rest.RestHandler.Route;
import org.elasticsearch.rest.RestRequest;
import org.forelock.ForelockClient;
import org.forelock.LockType;
import org.forelock.search.LockContext;

/**
 * A plugin that stands on the Forelock plugin of its node. A person who waits saves an article in the foreground; bulk
 * propagation changes many in the background.
 */
public final class ArticlesPlugin extends Plugin implements ActionPlugin {
  volatile ForelockClient locks;
  volatile LockContext context;

  @Override
  public Collection<RestHandler> getRestHandlers(Settings settings, NamedWriteableRegistry registry,
      RestController controller, ClusterSettings cluster, IndexScopedSettings index, SettingsFilter filter,
      IndexNameExpressionResolver resolver, Supplier<DiscoveryNodes> nodes, Predicate<NodeFeature> features) {
    return List.of(
        new ChangeArticles("Save Content", LockType.FOREGROUND, "saves",
            new Route(RestRequest.Method.POST, "/_articles/{index}/save/{ids}"), locks, context),
        new ChangeArticles("Bulk Propagation", LockType.BACKGROUND, "propagations",
            new Route(RestRequest.Method.POST, "/_articles/{index}/propagate/{ids}"), locks, context));
  }
}
