package org.forelock.elasticsearch;

import java.io.IOException;
import java.util.List;
import org.elasticsearch.client.internal.node.NodeClient;
import org.elasticsearch.rest.BaseRestHandler;
import org.elasticsearch.rest.RestRequest;
import org.elasticsearch.rest.RestRequest.Method;
import org.elasticsearch.rest.RestResponse;
import org.elasticsearch.rest.RestStatus;
import org.elasticsearch.rest.action.RestCancellableNodeClient;
import org.elasticsearch.rest.action.RestResponseListener;
import org.elasticsearch.xcontent.XContentParser;

/** Takes a lease; the wait ends when the client goes. */
final class LeaseRest extends BaseRestHandler {
  @Override
  public String getName() {
    return "forelock_lease_take";
  }

  @Override
  public List<Route> routes() {
    return List.of(new Route(Method.POST, Rest.ROOT + "leases"));
  }

  @Override
  protected RestChannelConsumer prepareRequest(RestRequest request, NodeClient client) throws IOException {
    LeaseMessage message;
    try (XContentParser body = request.contentParser()) {
      message = new LeaseMessage(body.map());
    }
    return channel -> new RestCancellableNodeClient(client, request.getHttpChannel()).execute(
        Questions.LEASE_TAKE, message, new RestResponseListener<>(channel) {
          @Override
          public RestResponse buildResponse(Reply reply) throws Exception {
            return new RestResponse(RestStatus.OK, channel.newBuilder().map(reply.values));
          }
        });
  }
}
