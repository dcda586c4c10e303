package org.forelock.opensearch;

import org.forelock.search.Headers;
import org.opensearch.common.util.concurrent.ThreadContext;
import org.opensearch.rest.RestRequest;

/** The parameter of a bulk with the meaning of the header {@link Headers#QUEUE}. */
final class QueueParameter {
  private QueueParameter() {}

  /** Makes it the header; it is known to the node by that. */
  static void take(ThreadContext context, RestRequest request) {
    if (request.path().endsWith("/_bulk") && request.hasParam(Headers.QUEUE_PARAMETER)) {
      String value = request.param(Headers.QUEUE_PARAMETER);
      if (Headers.said(Carrier.words(context), Headers.QUEUE) == null) {
        context.putHeader(Headers.QUEUE, value.isEmpty() ? "true" : value);
      }
    }
  }
}
