package org.forelock.opensearch;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.forelock.ForelockException;
import org.forelock.Inspector;
import org.forelock.MonitorView;
import org.forelock.OwnerRecord;
import org.opensearch.common.Table;
import org.opensearch.common.util.concurrent.AbstractRunnable;
import org.opensearch.core.action.ActionListener;
import org.opensearch.core.rest.RestStatus;
import org.opensearch.core.xcontent.XContentBuilder;
import org.opensearch.rest.BytesRestResponse;
import org.opensearch.rest.RestChannel;
import org.opensearch.rest.RestHandler;
import org.opensearch.rest.RestRequest;
import org.opensearch.rest.RestRequest.Method;
import org.opensearch.rest.action.RestResponseListener;
import org.opensearch.rest.action.cat.RestTable;
import org.opensearch.threadpool.ThreadPool;

/** The plugin's REST interface. */
final class Rest {
  private static final String ROOT = "/_plugins/_forelock/";

  private Rest() {}

  static List<RestHandler> handlers(Parts parts, ThreadPool threads) {
    return List.of(new Locks(parts, threads), new Show(parts, threads), new Cat(parts, threads), new StatsHandler(),
        new Cancel(), new MetricsHandler(parts));
  }

  private static void send(RestChannel channel, RestStatus status, Map<String, Object> map) throws IOException {
    XContentBuilder builder = channel.newBuilder();
    channel.sendResponse(new BytesRestResponse(status, builder.map(map)));
  }

  /** Answers with what the inspector finds; its look takes round trips, so it is done by a thread that may wait. */
  private abstract static class Looking extends RestBase {
    private final Parts parts;
    private final ThreadPool threads;

    Looking(Parts parts, ThreadPool threads) {
      this.parts = parts;
      this.threads = threads;
    }

    /** Sends the answer. */
    interface Answer {
      void send(Inspector inspector, RestChannel channel) throws Exception;
    }

    RestChannelConsumer look(Answer answer) {
      return channel -> threads.executor(ThreadPool.Names.GENERIC).execute(new AbstractRunnable() {
        @Override
        protected void doRun() throws Exception {
          try {
            answer.send(parts.locks.inspector(), channel);
          } catch (ForelockException problem) {
            onFailure(Refusals.notObtained(problem));
          }
        }

        @Override
        public void onFailure(Exception problem) {
          try {
            channel.sendResponse(new BytesRestResponse(channel, problem));
          } catch (IOException gone) {
            problem.addSuppressed(gone);
            throw new IllegalStateException(problem);
          }
        }
      });
    }
  }

  private static final class Locks extends Looking {
    Locks(Parts parts, ThreadPool threads) {
      super(parts, threads);
    }

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
      boolean all = request.paramAsBoolean("all", false);
      return look((inspector, channel) -> send(channel, RestStatus.OK, LocksJson.list(inspector.list(all))));
    }
  }

  private static final class Show extends Looking {
    Show(Parts parts, ThreadPool threads) {
      super(parts, threads);
    }

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
      String name = request.param("monitor");
      return look((inspector, channel) -> {
        Optional<MonitorView> monitor = inspector.show(name);
        if (monitor.isPresent()) {
          send(channel, RestStatus.OK, LocksJson.show(monitor.get()));
        } else {
          throw Refusals.of(RestStatus.NOT_FOUND, "no_such_monitor", name, "there is no monitor " + name);
        }
      });
    }
  }

  private static final class Cat extends Looking {
    Cat(Parts parts, ThreadPool threads) {
      super(parts, threads);
    }

    @Override
    public String getName() {
      return "cat_forelock";
    }

    @Override
    public List<Route> routes() {
      return List.of(new Route(Method.GET, "/_cat/forelock"));
    }

    @Override
    protected Set<String> responseParams() {
      return Set.of("format", "h", "v", "ts", "pri", "bytes", "size", "time", "s");
    }

    @Override
    RestChannelConsumer prepare(RestRequest request, Actions actions) {
      return look((inspector, channel) -> channel.sendResponse(
          RestTable.buildResponse(table(inspector.list(false)), channel)));
    }

    private static Table table(List<MonitorView> monitors) {
      Table table = new Table();
      table.startHeaders();
      table.addCell("monitor", "desc:what is locked");
      table.addCell("priority", "desc:the holder's class");
      table.addCell("held_ms", "text-align:right;desc:for so long");
      table.addCell("linger_ms", "text-align:right;desc:for so long its node may keep it when nothing is written");
      table.addCell("foreground", "text-align:right;desc:so many wait in the foreground");
      table.addCell("background", "text-align:right;desc:so many wait in the background");
      table.addCell("token", "default:false;desc:the holder's fencing token");
      table.addCell("holder", "desc:host, process and thread");
      table.addCell("info", "desc:what for");
      table.endHeaders();
      for (MonitorView monitor : monitors) {
        table.startRow();
        table.addCell(monitor.monitor());
        table.addCell(monitor.held() ? monitor.holderType().map(Names::of).orElse("?") : "-");
        table.addCell(monitor.held() ? monitor.heldFor().toMillis() : "-");
        table.addCell(monitor.owner().flatMap(OwnerRecord::linger).map(time -> "" + time.toMillis()).orElse("-"));
        table.addCell(monitor.waitingForeground());
        table.addCell(monitor.waitingBackground());
        table.addCell(monitor.held() ? monitor.holderToken() : "-");
        table.addCell(monitor.owner().map(owner -> owner.instance()).orElse("-"));
        table.addCell(monitor.owner().map(owner -> owner.lockInfo()).orElse("-"));
        table.endRow();
      }
      return table;
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

  private static final class Cancel extends RestBase {
    @Override
    public String getName() {
      return "forelock_cancel";
    }

    @Override
    public List<Route> routes() {
      return List.of(new Route(Method.POST, ROOT + "_cancel"));
    }

    @Override
    RestChannelConsumer prepare(RestRequest request, Actions actions) {
      Map<String, String> parameters = new LinkedHashMap<>();
      for (String name : Selection.PARAMETERS) {
        if (request.param(name) != null) {
          parameters.put(name, request.param(name));
        }
      }
      Selection.of(parameters);
      return channel -> actions.execute(NodesAction.CANCEL, new NodesRequest(parameters), then(channel, answer -> {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("cancelled", answer.getNodes().stream().mapToInt(node -> (int) node.values.get("cancelled")).sum());
        map.put("failures", answer.problems());
        return map;
      }));
    }
  }

  private static final class MetricsHandler extends RestBase {
    private final Parts parts;

    MetricsHandler(Parts parts) {
      this.parts = parts;
    }

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
      return channel -> channel.sendResponse(
          new BytesRestResponse(RestStatus.OK, Metrics.CONTENT_TYPE, Metrics.of(parts)));
    }
  }
}
