package org.forelock.opensearch;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.forelock.search.Leases;
import org.forelock.search.Refusal;
import org.forelock.search.Refusals;
import org.opensearch.core.rest.RestStatus;
import org.opensearch.core.xcontent.XContentParser;
import org.opensearch.rest.BytesRestResponse;
import org.opensearch.rest.RestChannel;
import org.opensearch.rest.RestHandler;
import org.opensearch.rest.RestRequest;
import org.opensearch.rest.RestRequest.Method;
import org.opensearch.rest.action.RestResponseListener;

/** The paths of leases. */
final class LeaseRest {
  private static final String ROOT = "/_plugins/_forelock/leases";

  private LeaseRest() {}

  static List<RestHandler> handlers() {
    return List.of(new Take(), new Use(), new All());
  }

  private static final class Take extends RestBase {
    @Override
    public String getName() {
      return "forelock_lease_take";
    }

    @Override
    public List<Route> routes() {
      return List.of(new Route(Method.POST, ROOT));
    }

    @Override
    boolean endsWithItsClient() {
      return true;
    }

    @Override
    RestChannelConsumer prepare(RestRequest request, Actions actions) throws IOException {
      LeaseMessage message;
      try (XContentParser body = request.contentParser()) {
        message = new LeaseMessage(body.map());
      }
      return channel -> actions.execute(LeaseActions.TAKE, message, new RestResponseListener<LookAnswer>(channel) {
        @Override
        public BytesRestResponse buildResponse(LookAnswer answer) throws Exception {
          return json(channel, answer.values);
        }
      });
    }
  }

  private static final class Use extends RestBase {
    @Override
    public String getName() {
      return "forelock_lease_use";
    }

    @Override
    public List<Route> routes() {
      return List.of(new Route(Method.PUT, ROOT + "/{id}"), new Route(Method.DELETE, ROOT + "/{id}"));
    }

    @Override
    RestChannelConsumer prepare(RestRequest request, Actions actions) {
      String id = request.param("id");
      Map<String, String> question = request.method() == Method.PUT ? Leases.keep(id) : Leases.release(id);
      NodesRequest toItsNode = new NodesRequest(question, Leases.nodeOf(id));
      return channel -> actions.execute(LeaseActions.USE, toItsNode, new RestResponseListener<NodesAnswer>(channel) {
        @Override
        public BytesRestResponse buildResponse(NodesAnswer answer) throws Exception {
          if (answer.hasFailures()) {
            throw Answers.of(Refusals.leaseUnknown(id, answer.problems().get(0)));
          }
          Map<String, Object> told = answer.getNodes().size() == 1 ? answer.getNodes().get(0).values : null;
          try {
            return json(channel, Leases.told(question, told));
          } catch (Refusal refusal) {
            throw Answers.of(refusal);
          }
        }
      });
    }
  }

  private static final class All extends RestBase {
    @Override
    public String getName() {
      return "forelock_leases";
    }

    @Override
    public List<Route> routes() {
      return List.of(new Route(Method.GET, ROOT));
    }

    @Override
    RestChannelConsumer prepare(RestRequest request, Actions actions) {
      NodesRequest toAll = new NodesRequest(Map.of());
      return channel -> actions.execute(LeaseActions.LIST, toAll, new RestResponseListener<NodesAnswer>(channel) {
        @Override
        public BytesRestResponse buildResponse(NodesAnswer answer) throws Exception {
          Map<String, Object> map = new LinkedHashMap<>();
          map.put("nodes", answer.toMap());
          map.put("failures", answer.problems());
          return json(channel, map);
        }
      });
    }
  }

  private static BytesRestResponse json(RestChannel channel, Map<String, Object> map) throws IOException {
    return new BytesRestResponse(RestStatus.OK, channel.newBuilder().map(map));
  }
}
