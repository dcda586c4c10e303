package org.forelock.opensearch;

import java.util.List;
import java.util.Map;
import org.forelock.search.LocksTable;
import org.opensearch.common.Table;
import org.opensearch.rest.RestRequest;
import org.opensearch.rest.RestRequest.Method;
import org.opensearch.rest.RestResponse;
import org.opensearch.rest.action.RestResponseListener;
import org.opensearch.rest.action.cat.RestTable;

/** The locks as a table for people: the contents of {@code _plugins/_forelock/locks}. */
final class Cat extends CatBase {
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
  Table header() {
    Table table = new Table();
    table.startHeaders();
    LocksTable.COLUMNS.forEach(column -> table.addCell(column.getKey(), column.getValue()));
    table.endHeaders();
    return table;
  }

  @Override
  RestChannelConsumer prepare(RestRequest request, RestBase.Actions actions) {
    return channel -> actions.execute(Questions.LOCKS, new Message(Map.of()), new RestResponseListener<Reply>(channel) {
      @Override
      public RestResponse buildResponse(Reply reply) throws Exception {
        return RestTable.buildResponse(table(reply.values), channel);
      }
    });
  }

  private Table table(Map<String, Object> locks) {
    Table table = header();
    for (List<Object> row : LocksTable.rows(locks)) {
      table.startRow();
      row.forEach(table::addCell);
      table.endRow();
    }
    return table;
  }
}
