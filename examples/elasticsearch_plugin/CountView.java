package example.views;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.DocWriteResponse;
import org.elasticsearch.action.get.GetResponse;
import org.elasticsearch.client.internal.Client;
import org.elasticsearch.client.internal.node.NodeClient;
import org.elasticsearch.rest.BaseRestHandler;
import org.elasticsearch.rest.RestRequest;
import org.elasticsearch.rest.action.RestToXContentListener;
import org.forelock.ForelockClient;
import org.forelock.ZkBlockingWriteLock;

/** Reads an article, adds one, and writes it, under one lock, without a thread that waits for it. */
final class CountView extends BaseRestHandler {
  private final ForelockClient locks;

  CountView(ForelockClient locks) {
    this.locks = locks;
  }

  @Override
  public String getName() {
    return "count_view";
  }

  @Override
  public List<Route> routes() {
    return List.of(new Route(RestRequest.Method.POST, "/_views/{index}/{id}"));
  }

  @Override
  protected RestChannelConsumer prepareRequest(RestRequest request, NodeClient client) {
    String index = request.param("index");
    String id = request.param("id");
    return channel -> {
      ZkBlockingWriteLock lock = new ZkBlockingWriteLock("count a view", locks, id);
      ActionListener<DocWriteResponse> answer =
          ActionListener.runBefore(new RestToXContentListener<>(channel, DocWriteResponse::status), lock::close);
      lock.acquireAsync(Duration.ofSeconds(30)).whenComplete((held, problem) -> {
        if (problem != null) {
          answer.onFailure(new IllegalStateException("the article is locked", problem));
          return;
        }
        // What is written under this lock says so, or the node would wait for the lock that is held here.
        Client writer = client.filterWithHeader(Map.of("X-Forelock-Held", lock.heldHeader()));
        client.prepareGet(index, id).execute(ActionListener.wrap(
            found -> writer.prepareIndex(index).setId(id).setSource("views", views(found) + 1).execute(answer),
            answer::onFailure));
      });
    };
  }

  private static int views(GetResponse found) {
    return found.isExists() ? (Integer) found.getSourceAsMap().get("views") : 0;
  }
}
