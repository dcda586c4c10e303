package org.forelock.opensearch;

import org.opensearch.common.Table;
import org.opensearch.rest.RestRequest;
import org.opensearch.rest.action.cat.AbstractCatAction;
import org.opensearch.transport.client.node.NodeClient;

/** A table for people, listed with all others, without what differs between OpenSearch 2 and 3. */
abstract class CatBase extends AbstractCatAction {
  abstract RestChannelConsumer prepare(RestRequest request, RestBase.Actions actions);

  abstract Table header();

  @Override
  protected final RestChannelConsumer doCatRequest(RestRequest request, NodeClient client) {
    return prepare(request, client::execute);
  }

  @Override
  protected final Table getTableWithHeader(RestRequest request) {
    return header();
  }
}
