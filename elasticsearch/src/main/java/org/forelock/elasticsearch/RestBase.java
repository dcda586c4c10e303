package org.forelock.elasticsearch;

import java.io.IOException;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.ActionRequest;
import org.elasticsearch.action.ActionResponse;
import org.elasticsearch.action.ActionType;
import org.elasticsearch.client.internal.node.NodeClient;
import org.elasticsearch.rest.BaseRestHandler;
import org.elasticsearch.rest.RestRequest;
import org.elasticsearch.rest.action.RestCancellableNodeClient;

/** A handler of REST requests. */
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
}
