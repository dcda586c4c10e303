package org.forelock.opensearch;

import java.io.IOException;
import java.util.List;
import org.opensearch.core.rest.RestStatus;
import org.opensearch.core.xcontent.XContentParser;
import org.opensearch.rest.BytesRestResponse;
import org.opensearch.rest.RestRequest.Method;
import org.opensearch.rest.RestRequest;
import org.opensearch.rest.action.RestResponseListener;

/** Takes a lease; the wait ends when the client goes. */
final class LeaseRest extends RestBase {
  @Override
  public String getName() {
    return "forelock_lease_take";
  }

  @Override
  public List<Route> routes() {
    return List.of(new Route(Method.POST, Rest.ROOT + "leases"));
  }

  @Override
  boolean endsWithItsClient() {
    return true;
  }

  @Override
  RestChannelConsumer prepare(RestRequest request, Actions actions) throws IOException {
    LeaseMessage message;
    try (XContentParser body = request.contentParser()) {
      message = new LeaseMessage(body.map());
    }
    return channel -> actions.execute(Questions.LEASE_TAKE, message, new RestResponseListener<Reply>(channel) {
      @Override
      public BytesRestResponse buildResponse(Reply reply) throws Exception {
        return new BytesRestResponse(RestStatus.OK, channel.newBuilder().map(reply.values));
      }
    });
  }
}
