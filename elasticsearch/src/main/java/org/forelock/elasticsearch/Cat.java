package org.forelock.elasticsearch;

import java.util.List;
import java.util.Map;
import org.elasticsearch.client.internal.node.NodeClient;
import org.elasticsearch.common.Table;
import org.elasticsearch.rest.RestRequest;
import org.elasticsearch.rest.RestRequest.Method;
import org.elasticsearch.rest.RestResponse;
import org.elasticsearch.rest.action.RestResponseListener;
import org.elasticsearch.rest.action.cat.AbstractCatAction;
import org.elasticsearch.rest.action.cat.RestTable;
import org.forelock.search.LocksTable;

/** The locks as a table for people: the contents of {@code _plugins/_forelock/locks}. */
final class Cat extends AbstractCatAction {
  @Override
  public String getName() {
    return "cat_forelock";
  }

  @Override
  public List<Route> routes() {
    return List.of(new Route(Method.GET, LocksTable.PATH));
  }

  @Override
  protected void documentation(StringBuilder list) {
    list.append(LocksTable.PATH).append('\n');
  }

  @Override
  protected Table getTableWithHeader(RestRequest request) {
    Table table = new Table();
    table.startHeaders();
    LocksTable.COLUMNS.forEach(column -> table.addCell(column.getKey(), column.getValue()));
    table.endHeaders();
    return table;
  }

  @Override
  protected RestChannelConsumer doCatRequest(RestRequest request, NodeClient client) {
    return channel -> client.execute(Questions.LOCKS, new Message(Map.of()), new RestResponseListener<>(channel) {
      @Override
      public RestResponse buildResponse(Reply reply) throws Exception {
        Table table = getTableWithHeader(request);
        for (List<Object> row : LocksTable.rows(reply.values)) {
          table.startRow();
          row.forEach(table::addCell);
          table.endRow();
        }
        return RestTable.buildResponse(table, channel);
      }
    });
  }
}
