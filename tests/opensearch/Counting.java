package counting;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.forelock.ForelockClient;
import org.forelock.ZkBlockingWriteLock;
import org.forelock.search.ForelockExtension;
import org.forelock.search.LockContext;
import org.opensearch.ExceptionsHelper;
import org.opensearch.client.node.NodeClient;
import org.opensearch.cluster.metadata.IndexNameExpressionResolver;
import org.opensearch.cluster.node.DiscoveryNodes;
import org.opensearch.common.settings.ClusterSettings;
import org.opensearch.common.settings.IndexScopedSettings;
import org.opensearch.common.settings.Settings;
import org.opensearch.common.settings.SettingsFilter;
import org.opensearch.core.action.ActionListener;
import org.opensearch.core.rest.RestStatus;
import org.opensearch.plugins.ActionPlugin;
import org.opensearch.plugins.Plugin;
import org.opensearch.rest.BaseRestHandler;
import org.opensearch.rest.BytesRestResponse;
import org.opensearch.rest.RestChannel;
import org.opensearch.rest.RestController;
import org.opensearch.rest.RestHandler;
import org.opensearch.rest.RestRequest;

/**
 * A plugin that adds 1 to a number of a document, by a read and a write under one lock. It answers what was found, -1
 * if that is not known, and the status of the write, 0 without one.
 */
public final class Counting extends Plugin implements ActionPlugin {
  private volatile ForelockClient locks;
  private volatile LockContext context;

  /** Gets the node's client. */
  public static final class Extension implements ForelockExtension {
    private final Counting plugin;

    /** Called by the node. */
    public Extension(Counting plugin) {
      this.plugin = plugin;
    }

    @Override
    public void useContext(LockContext context) {
      plugin.context = context;
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
      return "counting";
    }

    @Override
    public List<Route> routes() {
      return List.of(new Route(RestRequest.Method.POST, "/_counting/{index}/{id}/{key}"));
    }

    @Override
    protected RestChannelConsumer prepareRequest(RestRequest request, NodeClient client) {
      String index = request.param("index");
      String id = request.param("id");
      String key = request.param("key");
      return channel -> {
        ZkBlockingWriteLock lock = new ZkBlockingWriteLock("count", locks, id);
        lock.acquireAsync(Duration.ofSeconds(10)).whenComplete(context.here((held, problem) -> {
          if (problem != null) {
            answer(lock, channel, -1, 0);
            return;
          }
          try (LockContext.Scope ignored = context.under(lock)) {
            add(lock, client, channel, index, id, key);
          } catch (RuntimeException defect) {
            answer(lock, channel, -1, 0);
          }
        }));
      };
    }

    private void add(
        ZkBlockingWriteLock lock, NodeClient client, RestChannel channel, String index, String id, String key) {
      client.prepareGet(index, id).setPreference("_primary").execute(ActionListener.wrap(found -> {
        Map<String, Object> numbers = new TreeMap<>(found.getSourceAsMap());
        int before = (Integer) numbers.getOrDefault(key, 0);
        numbers.put(key, before + 1);
        // This node may have stood still: then it has read what is old, whoever holds the lock.
        client.prepareIndex(index).setId(id).setSource(numbers).setIfSeqNo(found.getSeqNo())
            .setIfPrimaryTerm(found.getPrimaryTerm()).execute(ActionListener.wrap(
            done -> answer(lock, channel, before, done.status().getStatus()),
            problem -> answer(lock, channel, before, ExceptionsHelper.status(problem).getStatus())));
      }, problem -> answer(lock, channel, -1, 0)));
    }

    private void answer(ZkBlockingWriteLock lock, RestChannel channel, int found, int status) {
      lock.close();
      channel.sendResponse(new BytesRestResponse(RestStatus.OK, found + " " + status));
    }
  }
}
