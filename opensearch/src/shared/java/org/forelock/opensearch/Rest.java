package org.forelock.opensearch;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.forelock.search.Leases;
import org.forelock.search.Looks;
import org.forelock.search.Metrics;
import org.forelock.search.Selection;
import org.opensearch.action.ActionType;
import org.opensearch.core.rest.RestStatus;
import org.opensearch.rest.BytesRestResponse;
import org.opensearch.rest.RestHandler;
import org.opensearch.rest.RestRequest.Method;
import org.opensearch.rest.RestRequest;
import org.opensearch.rest.action.RestResponseListener;

/** One path of the plugin's REST interface: a question, and its answer as JSON or as it is. */
final class Rest extends RestBase {
  static final String ROOT = "/_plugins/_forelock/";

  private final String name;
  private final Route route;
  private final ActionType<Reply> question;
  private final Function<RestRequest, Map<String, Object>> parameters;

  private Rest(String name, Method method, String path, ActionType<Reply> question,
      Function<RestRequest, Map<String, Object>> parameters) {
    this.name = "forelock_" + name;
    this.route = new Route(method, ROOT + path);
    this.question = question;
    this.parameters = parameters;
  }

  static List<RestHandler> handlers() {
    return List.of(
        new Rest("locks", Method.GET, "locks", Questions.LOCKS,
            request -> request.paramAsBoolean("all", false) ? Map.of(Looks.ALL, "true") : Map.of()),
        new Rest("lock", Method.GET, "locks/{monitor}", Questions.LOCKS,
            request -> Map.of(Looks.MONITOR, request.param("monitor"))),
        new Rest("stats", Method.GET, "stats", Questions.STATS, request -> Map.of()),
        new Rest("cancel", Method.POST, "_cancel", Questions.CANCEL, request -> selection(request, false)),
        new Rest("prioritize", Method.POST, "_prioritize", Questions.PRIORITIZE,
            request -> selection(request, true)),
        new Rest("metrics", Method.GET, "metrics", Questions.METRICS, request -> Map.of()),
        new LeaseRest(), new Rest("leases", Method.GET, "leases", Questions.LEASE_LIST, request -> Map.of()),
        new Rest("lease_keep", Method.PUT, "leases/{id}", Questions.LEASE_USE,
            request -> new HashMap<>(Leases.keep(request.param("id")))),
        new Rest("lease_release", Method.DELETE, "leases/{id}", Questions.LEASE_USE,
            request -> new HashMap<>(Leases.release(request.param("id")))), new Cat());
  }

  private static Map<String, Object> selection(RestRequest request, boolean withClass) {
    return new HashMap<>(Selection.parameters(request::param, withClass));
  }

  @Override
  public String getName() {
    return name;
  }

  @Override
  public List<Route> routes() {
    return List.of(route);
  }

  @Override
  RestChannelConsumer prepare(RestRequest request, Actions actions) {
    Message message = new Message(parameters.apply(request));
    return channel -> actions.execute(question, message, new RestResponseListener<Reply>(channel) {
      @Override
      public BytesRestResponse buildResponse(Reply reply) throws Exception {
        Object text = reply.values.get(Looks.TEXT);
        return text != null ? new BytesRestResponse(RestStatus.OK, Metrics.CONTENT_TYPE, (String) text)
            : new BytesRestResponse(RestStatus.OK, channel.newBuilder().map(reply.values));
      }
    });
  }
}
