package org.forelock.elasticsearch;

import org.elasticsearch.client.internal.node.NodeClient;
import org.elasticsearch.common.Table;
import org.elasticsearch.rest.RestRequest;
import org.elasticsearch.rest.action.cat.AbstractCatAction;

/** A table for people, listed with all others. */
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
