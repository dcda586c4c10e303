package org.forelock.opensearch;

import java.io.IOException;
import org.opensearch.action.ActionRequest;
import org.opensearch.action.ActionType;
import org.opensearch.core.action.ActionListener;
import org.opensearch.core.action.ActionResponse;
import org.opensearch.rest.BaseRestHandler;
import org.opensearch.rest.RestChannel;
import org.opensearch.rest.RestHandler;
import org.opensearch.rest.RestRequest;
import org.opensearch.rest.action.RestCancellableNodeClient;
import org.opensearch.transport.client.node.NodeClient;

/** A handler of REST requests without what differs between OpenSearch 2 and 3. */
abstract class RestBase extends BaseRestHandler {
  /** The node's own client. */
  interface Actions {
    <Q extends ActionRequest, R extends ActionResponse> void execute(
        ActionType<R> type, Q request, ActionListener<R> listener);
  }

  abstract RestChannelConsumer prepare(RestRequest request, Actions actions) throws IOException;

  /** Whether what it asks for is cancelled when its client goes. */
  boolean endsWithItsClient() {
    return false;
  }

  @Override
  protected final RestChannelConsumer prepareRequest(RestRequest request, NodeClient client) throws IOException {
    return prepare(request, endsWithItsClient()
        ? new RestCancellableNodeClient(client, request.getHttpChannel())::execute : client::execute);
  }

  /** Runs something before each request that a handler gets. */
  static RestHandler before(RestHandler handler, java.util.function.Consumer<RestRequest> first) {
    return new RestHandler.Wrapper(handler) {
      @Override
      public void handleRequest(RestRequest request, RestChannel channel, NodeClient client) throws Exception {
        first.accept(request);
        super.handleRequest(request, channel, client);
      }
    };
  }
}
