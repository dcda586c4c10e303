package org.forelock.opensearch;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.forelock.search.Looks;
import org.forelock.search.Metrics;
import org.forelock.search.Selection;
import org.opensearch.action.ActionType;
import org.opensearch.core.action.ActionListener;
import org.opensearch.core.rest.RestStatus;
import org.opensearch.rest.BytesRestResponse;
import org.opensearch.rest.RestChannel;
import org.opensearch.rest.RestHandler;
import org.opensearch.rest.RestRequest.Method;
import org.opensearch.rest.RestRequest;
import org.opensearch.rest.action.RestResponseListener;

/** The plugin's REST interface. */
final class Rest {
  private static final String ROOT = "/_plugins/_forelock/";

  private Rest() {}

  static List<RestHandler> handlers() {
    List<RestHandler> all = new ArrayList<>(LeaseRest.handlers());
    all.addAll(List.of(new Locks(), new Show(), new Cat(), new StatsHandler(), new MetricsHandler(),
        new ToHeld("cancel", NodesAction.CANCEL, "cancelled", false),
        new ToHeld("prioritize", NodesAction.PRIORITIZE, "prioritized", true)));
    return all;
  }

  private static final class Locks extends RestBase {
    @Override
    public String getName() {
      return "forelock_locks";
    }

    @Override
    public List<Route> routes() {
      return List.of(new Route(Method.GET, ROOT + "locks"));
    }

    @Override
    RestChannelConsumer prepare(RestRequest request, Actions actions) {
      Map<String, String> parameters = request.paramAsBoolean("all", false) ? Map.of(Looks.ALL, "true") : Map.of();
      return channel ->
          actions.execute(LookAction.LOCKS, new LookRequest(parameters), then(channel, answer -> answer.values));
    }
  }

  private static final class Show extends RestBase {
    @Override
    public String getName() {
      return "forelock_lock";
    }

    @Override
    public List<Route> routes() {
      return List.of(new Route(Method.GET, ROOT + "locks/{monitor}"));
    }

    @Override
    RestChannelConsumer prepare(RestRequest request, Actions actions) {
      LookRequest look = new LookRequest(Map.of(Looks.MONITOR, request.param("monitor")));
      return channel -> actions.execute(LookAction.LOCKS, look, then(channel, answer -> answer.values));
    }
  }

  private static <T> ActionListener<T> then(RestChannel channel, Function<T, Map<String, Object>> map) {
    return new RestResponseListener<T>(channel) {
      @Override
      public BytesRestResponse buildResponse(T answer) throws Exception {
        return new BytesRestResponse(RestStatus.OK, channel.newBuilder().map(map.apply(answer)));
      }
    };
  }

  private static final class StatsHandler extends RestBase {
    @Override
    public String getName() {
      return "forelock_stats";
    }

    @Override
    public List<Route> routes() {
      return List.of(new Route(Method.GET, ROOT + "stats"));
    }

    @Override
    RestChannelConsumer prepare(RestRequest request, Actions actions) {
      return channel -> actions.execute(NodesAction.STATS, new NodesRequest(Map.of()), then(channel, answer -> {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("cluster_name", answer.getClusterName().value());
        map.put("nodes", answer.toMap());
        map.put("failures", answer.problems());
        return map;
      }));
    }
  }

  /** Something that is done, on all nodes, to the requests that are meant; each says to how many. */
  private static final class ToHeld extends RestBase {
    private final String name;
    private final ActionType<NodesAnswer> action;
    private final String count;
    private final boolean withClass;

    ToHeld(String name, ActionType<NodesAnswer> action, String count, boolean withClass) {
      this.withClass = withClass;
      this.name = name;
      this.action = action;
      this.count = count;
    }

    @Override
    public String getName() {
      return "forelock_" + name;
    }

    @Override
    public List<Route> routes() {
      return List.of(new Route(Method.POST, ROOT + "_" + name));
    }

    @Override
    RestChannelConsumer prepare(RestRequest request, Actions actions) {
      Map<String, String> parameters = Selection.parameters(request::param, withClass);
      return channel -> actions.execute(action, new NodesRequest(parameters), then(channel, answer -> {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put(count, answer.getNodes().stream().mapToInt(node -> (int) node.values.get(count)).sum());
        map.put("failures", answer.problems());
        return map;
      }));
    }
  }

  private static final class MetricsHandler extends RestBase {
    @Override
    public String getName() {
      return "forelock_metrics";
    }

    @Override
    public List<Route> routes() {
      return List.of(new Route(Method.GET, ROOT + "metrics"));
    }

    @Override
    RestChannelConsumer prepare(RestRequest request, Actions actions) {
      return channel -> actions.execute(LookAction.METRICS, new LookRequest(Map.of()),
          new RestResponseListener<LookAnswer>(channel) {
            @Override
            public BytesRestResponse buildResponse(LookAnswer answer) {
              String text = (String) answer.values.get(Looks.TEXT);
              return new BytesRestResponse(RestStatus.OK, Metrics.CONTENT_TYPE, text);
            }
          });
    }
  }
}
