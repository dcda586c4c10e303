package example.articles;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.forelock.ForelockClient;
import org.forelock.LockSet;
import org.forelock.LockType;
import org.forelock.search.LockContext;
import org.opensearch.action.bulk.BulkItemResponse;
import org.opensearch.action.bulk.BulkRequest;
import org.opensearch.action.bulk.BulkResponse;
import org.opensearch.action.get.MultiGetItemResponse;
import org.opensearch.action.get.MultiGetRequest;
import org.opensearch.action.get.MultiGetResponse;
import org.opensearch.action.index.IndexRequest;
import org.opensearch.client.node.NodeClient;
import org.opensearch.core.action.ActionListener;
import org.opensearch.core.rest.RestStatus;
import org.opensearch.rest.BaseRestHandler;
import org.opensearch.rest.BytesRestResponse;
import org.opensearch.rest.RestChannel;
import org.opensearch.rest.RestRequest;

/**
 * Reads articles, adds one to a number of each, and writes them: all under their locks, and without a thread that waits
 * for these.
 */
final class ChangeArticles extends BaseRestHandler {
  private final String info;
  private final LockType type;
  private final String number;
  private final Route route;
  private final ForelockClient locks;
  private final LockContext context;

  /** @param number is what is counted up */
  ChangeArticles(
      String info, LockType type, String number, Route route, ForelockClient locks, LockContext context) {
    this.info = info;
    this.type = type;
    this.number = number;
    this.route = route;
    this.locks = locks;
    this.context = context;
  }

  @Override
  public String getName() {
    return "change_" + number;
  }

  @Override
  public List<Route> routes() {
    return List.of(route);
  }

  @Override
  protected RestChannelConsumer prepareRequest(RestRequest request, NodeClient client) {
    String index = request.param("index");
    List<String> ids = List.of(request.param("ids").split(","));
    return channel -> {
      LockSet set = new LockSet(info, locks, ids, type);
      ActionListener<BulkResponse> answer = ActionListener.runBefore(
          ActionListener.wrap(done -> answer(channel, done), problem -> refuse(channel, problem)), set::close);
      // Of the library's thread, which calls back, the node does not know for whom it is.
      set.acquireAsync(Duration.ofSeconds(30)).whenComplete(context.here((held, problem) -> {
        if (problem != null) {
          answer.onFailure(new IllegalStateException("the articles are locked", problem));
          return;
        }
        // What is begun here is written under these locks, or the node would wait for the locks that are held here.
        try (LockContext.Scope ignored = context.under(set)) {
          MultiGetRequest read = new MultiGetRequest();
          ids.forEach(id -> read.add(index, id));
          client.multiGet(read, ActionListener.wrap(
              found -> client.bulk(changed(index, found), answer), answer::onFailure));
        }
      }));
    };
  }

  private BulkRequest changed(String index, MultiGetResponse found) throws Exception {
    BulkRequest writes = new BulkRequest();
    for (MultiGetItemResponse item : found) {
      if (item.isFailed()) {
        throw item.getFailure().getFailure();
      }
      boolean isThere = item.getResponse().isExists();
      Map<String, Object> article = new TreeMap<>(isThere ? item.getResponse().getSourceAsMap() : Map.of());
      article.merge(number, 1, (before, one) -> (Integer) before + 1);
      article.put("changed_by", info);
      IndexRequest write = new IndexRequest(index).id(item.getId()).source(article);
      if (isThere) { // a node that stood still may have read what is old, whoever holds the lock
        write.setIfSeqNo(item.getResponse().getSeqNo()).setIfPrimaryTerm(item.getResponse().getPrimaryTerm());
      }
      writes.add(write);
    }
    return writes;
  }

  private static void answer(RestChannel channel, BulkResponse done) {
    RestStatus status = RestStatus.OK;
    for (BulkItemResponse item : done) {
      status = item.isFailed() ? item.status() : status;
    }
    channel.sendResponse(new BytesRestResponse(status, done.hasFailures() ? done.buildFailureMessage() : "changed"));
  }

  private static void refuse(RestChannel channel, Exception problem) {
    try {
      channel.sendResponse(new BytesRestResponse(channel, problem));
    } catch (java.io.IOException gone) {
      throw new java.io.UncheckedIOException(gone);
    }
  }
}
