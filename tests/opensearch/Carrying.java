package carrying;

import java.security.AccessController;
import java.security.PrivilegedAction;
import java.util.List;
import java.util.function.Supplier;
import org.forelock.ForelockClient;
import org.forelock.ZkBlockingWriteLock;
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

/** A plugin that knows nothing of ours: it carries the jar and a native library of its own, and has its own session. */
@SuppressWarnings("removal")
public final class Carrying extends Plugin implements ActionPlugin {
  private ForelockClient locks;
  private ZkBlockingWriteLock lock;

  @Override
  public List<RestHandler> getRestHandlers(Settings settings, RestController controller, ClusterSettings cluster,
      IndexScopedSettings index, SettingsFilter filter, IndexNameExpressionResolver resolver,
      Supplier<DiscoveryNodes> nodes) {
    return List.of(new Handler());
  }

  @Override
  public synchronized void close() {
    if (locks != null) {
      locks.close();
    }
  }

  private synchronized String lock(String servers, String monitor) {
    return AccessController.doPrivileged((PrivilegedAction<String>) () -> {
      if (locks == null) {
        locks = ForelockClient.builder().set("zookeeper.servers", servers).build();
      }
      lock = new ZkBlockingWriteLock("carried", locks, monitor);
      lock.lockWithTimeout();
      return lock.heldHeader();
    });
  }

  private synchronized String unlock() {
    lock.close();
    return "given back";
  }

  private final class Handler extends BaseRestHandler {
    @Override
    public String getName() {
      return "carrying";
    }

    @Override
    public List<Route> routes() {
      return List.of(new Route(RestRequest.Method.POST, "/_carrying/{act}"));
    }

    @Override
    protected RestChannelConsumer prepareRequest(RestRequest request, NodeClient client) {
      boolean locks = request.param("act").equals("lock");
      String servers = request.param("servers");
      String monitor = request.param("monitor");
      return channel -> client.threadPool().generic().execute(() -> channel.sendResponse(
          new BytesRestResponse(RestStatus.OK, locks ? lock(servers, monitor) : unlock())));
    }
  }
}
