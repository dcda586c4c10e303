package waiting;

import java.util.List;
import java.util.function.Supplier;
import org.forelock.ForelockClient;
import org.forelock.ForelockException;
import org.forelock.ZkBlockingWriteLock;
import org.forelock.search.ForelockExtension;
import org.opensearch.client.node.NodeClient;
import org.opensearch.cluster.metadata.IndexNameExpressionResolver;
import org.opensearch.cluster.node.DiscoveryNodes;
import org.opensearch.common.settings.ClusterSettings;
import org.opensearch.common.settings.IndexScopedSettings;
import org.opensearch.common.settings.Settings;
import org.opensearch.common.settings.SettingsFilter;
import org.opensearch.core.rest.RestStatus;
import org.opensearch.plugins.ActionPlugin;
import org.opensearch.plugins.Plugin;
import org.opensearch.rest.BaseRestHandler;
import org.opensearch.rest.BytesRestResponse;
import org.opensearch.rest.RestController;
import org.opensearch.rest.RestHandler;
import org.opensearch.rest.RestRequest;

/** A plugin that does what it should not: it waits for a lock where the node takes requests, and closes the client. */
public final class Waiting extends Plugin implements ActionPlugin {
  private volatile ForelockClient locks;

  /** Gets the node's client. */
  public static final class Extension implements ForelockExtension {
    private final Waiting plugin;

    /** Called by the node. */
    public Extension(Waiting plugin) {
      this.plugin = plugin;
    }

    @Override
    public void useForelock(ForelockClient client) {
      plugin.locks = client;
    }
  }

  @Override
  public List<RestHandler> getRestHandlers(Settings settings, RestController controller, ClusterSettings cluster,
      IndexScopedSettings index, SettingsFilter filter, IndexNameExpressionResolver resolver,
      Supplier<DiscoveryNodes> nodes) {
    return List.of(new Handler());
  }

  private final class Handler extends BaseRestHandler {
    @Override
    public String getName() {
      return "waiting";
    }

    @Override
    public List<Route> routes() {
      return List.of(new Route(RestRequest.Method.POST, "/_waiting/{how}"));
    }

    @Override
    protected RestChannelConsumer prepareRequest(RestRequest request, NodeClient client) {
      String answer = request.param("how").equals("lock") ? lock() : close();
      return channel -> channel.sendResponse(new BytesRestResponse(RestStatus.OK, answer));
    }

    private String lock() {
      try (ZkBlockingWriteLock lock = new ZkBlockingWriteLock("test", locks, "waited-for")) {
        lock.lockWithTimeout();
        return "locked";
      } catch (ForelockException refused) {
        return refused.code() + ": " + refused.getMessage();
      }
    }

    private String close() {
      try {
        locks.close();
        return "closed";
      } catch (IllegalStateException refused) {
        return refused.getMessage();
      }
    }
  }
}
