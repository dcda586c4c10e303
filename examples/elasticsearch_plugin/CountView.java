package example.views;

import java.time.Duration;
import java.util.List;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.DocWriteResponse;
import org.elasticsearch.action.get.GetResponse;
import org.elasticsearch.client.internal.node.NodeClient;
import org.elasticsearch.rest.BaseRestHandler;
import org.elasticsearch.rest.RestRequest;
import org.elasticsearch.rest.action.RestToXContentListener;
import org.forelock.ForelockClient;
import org.forelock.ZkBlockingWriteLock;
import org.forelock.search.LockContext;

/** Reads an article, adds one, and writes it, under one lock, without a thread that waits for it. */
final class CountView extends BaseRestHandler {
  private final ForelockClient locks;
  private final LockContext context;

  CountView(ForelockClient locks, LockContext context) {
    this.locks = locks;
    this.context = context;
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
        // What is begun here is written under this lock, or the node would wait for the lock that is held here.
        try (LockContext.Scope ignored = context.under(lock)) {
          client.prepareGet(index, id).execute(ActionListener.wrap(
              found -> client.prepareIndex(index).setId(id).setSource("views", views(found) + 1).execute(answer),
              answer::onFailure));
        }
      });
    };
  }

  private static int views(GetResponse found) {
    return found.isExists() ? (Integer) found.getSourceAsMap().get("views") : 0;
  }
}
