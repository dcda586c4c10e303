package org.forelock.opensearch;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.forelock.search.Ancestors;
import org.forelock.search.Looks;
import org.forelock.search.Selection;
import org.opensearch.action.ActionType;
import org.opensearch.action.support.ActionFilters;
import org.opensearch.action.support.HandledTransportAction;
import org.opensearch.cluster.service.ClusterService;
import org.opensearch.common.inject.Inject;
import org.opensearch.core.action.ActionListener;
import org.opensearch.tasks.Task;
import org.opensearch.threadpool.ThreadPool;
import org.opensearch.transport.TransportService;

/** What the plugin is asked over REST. These are actions so that roles can permit them. */
final class Questions {
  /** What is locked: all that is, or one monitor with its queue. */
  static final ActionType<Reply> LOCKS = Wire.action("cluster:monitor/forelock/locks");
  /** What Prometheus reads of the node that is asked. */
  static final ActionType<Reply> METRICS = Wire.action("cluster:monitor/forelock/metrics");
  /** What happened on each node, and what is there now. */
  static final ActionType<Reply> STATS = Wire.action("cluster:monitor/forelock/stats");
  /** Gives a lease, on the node that is asked. */
  static final ActionType<Reply> LEASE_TAKE = Wire.action("cluster:admin/forelock/leases/take");
  /** Keeps one, or gives it back, on the node that has given it. */
  static final ActionType<Reply> LEASE_USE = Wire.action("cluster:admin/forelock/leases/use");
  /** All of all nodes. */
  static final ActionType<Reply> LEASE_LIST = Wire.action("cluster:admin/forelock/leases/list");
  /** Ends waits on all nodes. */
  static final ActionType<Reply> CANCEL = Wire.action("cluster:admin/forelock/cancel");
  /** Nothing: only whoever is permitted to ask is. */
  static final ActionType<Reply> FOREGROUND = Wire.action(ForegroundPermit.ACTION);
  /** Moves those that wait on all nodes to another class. */
  static final ActionType<Reply> PRIORITIZE = Wire.action("cluster:admin/forelock/prioritize");

  /** To one node, of a lease that it has given. */
  static final String LEASE = "internal:plugin/forelock/lease";
  static final String LEASES_OF_NODE = "internal:plugin/forelock/leases";
  static final String IDENTITY = "internal:plugin/forelock/identity";
  private static final String STATS_OF_NODE = "internal:plugin/forelock/stats";
  private static final String CANCEL_ON_NODE = "internal:plugin/forelock/cancel";
  private static final String PRIORITIZE_ON_NODE = "internal:plugin/forelock/prioritize";

  private Questions() {}

  /** What this node answers for itself. */
  static void serve(Peers peers, CommonParts parts, Ancestors ancestry) {
    peers.serve(STATS_OF_NODE, (question, reply) -> reply.accept(parts.state.toMap()));
    peers.serve(LEASE, (question, reply) -> reply.accept(parts.leases.answer(question)));
    peers.serve(LEASES_OF_NODE, (question, reply) -> reply.accept(parts.leases.list()));
    peers.serve(IDENTITY, (question, reply) -> reply.accept(Map.of("identity", parts.identity.own())));
    peers.serveBlocking(CANCEL_ON_NODE, (question, reply) -> {
      Selection selection = Selection.of(texts(question));
      reply.accept(Map.of("cancelled", parts.requests.cancel(held -> selection.fits(held, ancestry), "by request")));
    });
    peers.serveBlocking(PRIORITIZE_ON_NODE, (question, reply) -> {
      Selection selection = Selection.of(texts(question));
      reply.accept(Map.of("prioritized", parts.requests.prioritize(
          held -> selection.fits(held, ancestry), Selection.wanted(texts(question)))));
    });
  }

  private static Map<String, String> texts(Map<String, Object> values) {
    Map<String, String> texts = new HashMap<>();
    values.forEach((name, value) -> texts.put(name, (String) value));
    return texts;
  }

  /** One that the node answers that is asked. */
  abstract static class OfThisNode extends HandledTransportAction<Message, Reply> {
    private final Looks looks;

    OfThisNode(ActionType<?> type, ThreadPool threads, TransportService transport, ActionFilters filters) {
      super(type.name(), transport, filters, Message::new, Wire.AT_ONCE);
      this.looks = new Looks(threads.generic());
    }

    /** On a thread that may wait. */
    abstract Map<String, Object> answer(Map<String, Object> parameters);

    @Override
    protected void doExecute(Task task, Message message, ActionListener<Reply> listener) {
      looks.ask(() -> answer(message.values), (seen, problem) -> {
        if (problem == null) {
          listener.onResponse(new Reply(seen));
        } else {
          listener.onFailure(Answers.of(problem));
        }
      });
    }
  }

  /** What is locked, by whom, and who waits. */
  public static final class LocksAction extends OfThisNode {
    private final Parts parts;

    /**
     * Called by the node.
     *
     * @param threads the node's threads
     * @param transport between nodes
     * @param filters of actions
     * @param parts the plugin's own
     */
    @Inject
    public LocksAction(ThreadPool threads, TransportService transport, ActionFilters filters, Parts parts) {
      super(LOCKS, threads, transport, filters);
      this.parts = parts;
    }

    @Override
    Map<String, Object> answer(Map<String, Object> parameters) {
      return Looks.locks(parts.locks.inspector(), parameters);
    }
  }

  /** The numbers of this node. */
  public static final class MetricsAction extends OfThisNode {
    private final Parts parts;

    /**
     * Called by the node.
     *
     * @param threads the node's threads
     * @param transport between nodes
     * @param filters of actions
     * @param parts the plugin's own
     */
    @Inject
    public MetricsAction(ThreadPool threads, TransportService transport, ActionFilters filters, Parts parts) {
      super(METRICS, threads, transport, filters);
      this.parts = parts;
    }

    @Override
    Map<String, Object> answer(Map<String, Object> parameters) {
      return Map.of(Looks.TEXT, parts.state.metrics("opensearch"));
    }
  }

  /** The counts of all nodes. */
  public static final class StatsAction extends HandledTransportAction<Message, Reply> {
    private final ClusterService cluster;
    private final Parts parts;

    /**
     * Called by the node.
     *
     * @param cluster what the node knows of the cluster
     * @param transport between nodes
     * @param filters of actions
     * @param parts the plugin's own
     */
    @Inject
    public StatsAction(ClusterService cluster, TransportService transport, ActionFilters filters, Parts parts) {
      super(STATS.name(), transport, filters, Message::new, Wire.AT_ONCE);
      this.cluster = cluster;
      this.parts = parts;
    }

    @Override
    protected void doExecute(Task task, Message message, ActionListener<Reply> listener) {
      parts.askAll(STATS_OF_NODE, message.values, CommonParts.TIMEOUT, answers -> {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("cluster_name", cluster.getClusterName().value());
        map.put("nodes", answers.nodes);
        map.put("failures", List.copyOf(answers.problems));
        listener.onResponse(new Reply(map));
      });
    }
  }

  /** Something that is done, on all nodes, to the requests that are meant; each says to how many. */
  abstract static class ToHeld extends HandledTransportAction<Message, Reply> {
    private final Parts parts;
    private final String question;
    private final String count;

    ToHeld(ActionType<?> type, TransportService transport, ActionFilters filters, Parts parts, String question,
        String count) {
      super(type.name(), transport, filters, Message::new, Wire.AT_ONCE);
      this.parts = parts;
      this.question = question;
      this.count = count;
    }

    @Override
    protected void doExecute(Task task, Message message, ActionListener<Reply> listener) {
      parts.askAll(question, message.values, CommonParts.TIMEOUT, answers -> {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put(count, answers.nodes.values().stream().mapToInt(node -> (int) node.get(count)).sum());
        map.put("failures", List.copyOf(answers.problems));
        listener.onResponse(new Reply(map));
      });
    }
  }

  /** Ends waits. */
  public static final class CancelAction extends ToHeld {
    /**
     * Called by the node.
     *
     * @param transport between nodes
     * @param filters of actions
     * @param parts the plugin's own
     */
    @Inject
    public CancelAction(TransportService transport, ActionFilters filters, Parts parts) {
      super(CANCEL, transport, filters, parts, CANCEL_ON_NODE, "cancelled");
    }
  }

  /** Moves those that wait to another class. */
  public static final class PrioritizeAction extends ToHeld {
    /**
     * Called by the node.
     *
     * @param transport between nodes
     * @param filters of actions
     * @param parts the plugin's own
     */
    @Inject
    public PrioritizeAction(TransportService transport, ActionFilters filters, Parts parts) {
      super(PRIORITIZE, transport, filters, parts, PRIORITIZE_ON_NODE, "prioritized");
    }
  }

  /** Does nothing. */
  public static final class ForegroundAction extends HandledTransportAction<Message, Reply> {
    /**
     * Called by the node.
     *
     * @param transport between nodes
     * @param filters of actions, which may refuse it
     */
    @Inject
    public ForegroundAction(TransportService transport, ActionFilters filters) {
      super(FOREGROUND.name(), transport, filters, Message::new, Wire.AT_ONCE);
    }

    @Override
    protected void doExecute(Task task, Message message, ActionListener<Reply> listener) {
      listener.onResponse(new Reply(Map.of()));
    }
  }
}
