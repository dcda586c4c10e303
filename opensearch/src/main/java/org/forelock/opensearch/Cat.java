package org.forelock.opensearch;

import java.util.List;
import java.util.Map;
import org.opensearch.common.Table;
import org.opensearch.rest.RestRequest;
import org.opensearch.rest.RestRequest.Method;
import org.opensearch.rest.RestResponse;
import org.opensearch.rest.action.RestResponseListener;
import org.opensearch.rest.action.cat.RestTable;

/** What is locked, as a table for people: the same as {@code _plugins/_forelock/locks}. */
final class Cat extends CatBase {
  private static final String PATH = "/_cat/forelock";

  @Override
  public String getName() {
    return "cat_forelock";
  }

  @Override
  public List<Route> routes() {
    return List.of(new Route(Method.GET, PATH));
  }

  @Override
  protected void documentation(StringBuilder list) {
    list.append(PATH).append('\n');
  }

  @Override
  Table header() {
    Table table = new Table();
    table.startHeaders();
    table.addCell("monitor", "alias:m;desc:what is locked");
    table.addCell("priority", "alias:p;desc:the holder's class");
    table.addCell("held_ms", "alias:ms;text-align:right;desc:for so long");
    table.addCell(
        "linger_ms", "alias:l;text-align:right;desc:for so long its node may keep it when nothing is written");
    table.addCell("foreground", "alias:fg;text-align:right;desc:so many wait in the foreground");
    table.addCell("background", "alias:bg;text-align:right;desc:so many wait in the background");
    table.addCell("token", "alias:t;default:false;desc:the holder's fencing token");
    table.addCell("holder", "alias:h;desc:host, process and thread");
    table.addCell("info", "alias:i;desc:what for");
    table.endHeaders();
    return table;
  }

  @Override
  RestChannelConsumer prepare(RestRequest request, RestBase.Actions actions) {
    return channel -> actions.execute(LookAction.LOCKS, new LookRequest(Map.of()),
        new RestResponseListener<LookAnswer>(channel) {
          @Override
          public RestResponse buildResponse(LookAnswer answer) throws Exception {
            return RestTable.buildResponse(table(answer.values), channel);
          }
        });
  }

  private Table table(Map<String, Object> locks) {
    Table table = header();
    for (Object one : (List<?>) locks.get("monitors")) {
      Map<?, ?> monitor = (Map<?, ?>) one;
      Map<?, ?> holder = (Map<?, ?>) monitor.get("holder");
      Map<?, ?> owner = inside(holder, "owner");
      Map<?, ?> waiting = inside(monitor, "waiting");
      table.startRow();
      table.addCell(monitor.get("monitor"));
      table.addCell(holder == null ? "-" : or(holder.get("priority"), "?"));
      table.addCell(value(holder, "held_ms"));
      table.addCell(value(owner, "lingerMs"));
      table.addCell(value(waiting, "foreground"));
      table.addCell(value(waiting, "background"));
      table.addCell(value(holder, "token"));
      table.addCell(value(owner, "instance"));
      table.addCell(value(owner, "lockInfo"));
      table.endRow();
    }
    return table;
  }

  private static Map<?, ?> inside(Map<?, ?> map, String name) {
    return map == null ? null : (Map<?, ?>) map.get(name);
  }

  private static Object value(Map<?, ?> map, String name) {
    return map == null ? "-" : or(map.get(name), "-");
  }

  private static Object or(Object value, String otherwise) {
    return value == null ? otherwise : value;
  }
}
