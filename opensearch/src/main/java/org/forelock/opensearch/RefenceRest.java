package org.forelock.opensearch;

import java.util.List;
import java.util.Map;
import org.opensearch.core.rest.RestStatus;
import org.opensearch.rest.BytesRestResponse;
import org.opensearch.rest.RestRequest;
import org.opensearch.rest.RestRequest.Method;
import org.opensearch.rest.action.RestResponseListener;

/** Lets fencing continue in an index. */
final class RefenceRest extends RestBase {
  @Override
  public String getName() {
    return "forelock_refence";
  }

  @Override
  public List<Route> routes() {
    return List.of(new Route(Method.POST, "/_plugins/_forelock/_refence/{index}"));
  }

  @Override
  RestChannelConsumer prepare(RestRequest request, Actions actions) {
    Message index = new Message(Map.of(Refence.INDEX, request.param("index")));
    return channel -> actions.execute(Refence.ACTION, index, new RestResponseListener<Reply>(channel) {
      @Override
      public BytesRestResponse buildResponse(Reply reply) throws Exception {
        return new BytesRestResponse(RestStatus.OK, channel.newBuilder().map(reply.values));
      }
    });
  }
}
