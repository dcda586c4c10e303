package org.forelock.elasticsearch;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.ActionType;
import org.elasticsearch.action.support.ActionFilters;
import org.elasticsearch.action.support.HandledTransportAction;
import org.elasticsearch.cluster.service.ClusterService;
import org.elasticsearch.injection.guice.Inject;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.threadpool.ThreadPool;
import org.elasticsearch.transport.TransportService;
import org.forelock.search.Looks;

/** The plugin's questions over REST. They are actions so that roles can permit them. */
final class Questions {
  /** The locks: all of them, or one monitor with its queue. */
  static final ActionType<Reply> LOCKS = new ActionType<>("cluster:monitor/forelock/locks");
  /** The metrics of the asked node for Prometheus. */
  static final ActionType<Reply> METRICS = new ActionType<>("cluster:monitor/forelock/metrics");
  /** The counts and the current state of each node. */
  static final ActionType<Reply> STATS = new ActionType<>("cluster:monitor/forelock/stats");
  /** Gives a lease, on the node that is asked. */
  static final ActionType<Reply> LEASE_TAKE = new ActionType<>("cluster:admin/forelock/leases/take");
  /** Keeps one, or gives it back, on the node that has given it. */
  static final ActionType<Reply> LEASE_USE = new ActionType<>("cluster:admin/forelock/leases/use");
  /** All of all nodes. */
  static final ActionType<Reply> LEASE_LIST = new ActionType<>("cluster:admin/forelock/leases/list");
  /** Ends waits on all nodes. */
  static final ActionType<Reply> CANCEL = new ActionType<>("cluster:admin/forelock/cancel");
  /** Does nothing: permission to ask is the answer. */
  static final ActionType<Reply> FOREGROUND = new ActionType<>(ForegroundPermit.ACTION);
  /** Moves those that wait on all nodes to another class. */
  static final ActionType<Reply> PRIORITIZE = new ActionType<>("cluster:admin/forelock/prioritize");

  private Questions() {}

  /** One that the node answers that is asked. */
  abstract static class OfThisNode extends HandledTransportAction<Message, Reply> {
    private final Looks looks;

    OfThisNode(ActionType<?> type, ThreadPool threads, TransportService transport, ActionFilters filters) {
      super(type.name(), transport, filters, Message::new, Peers.AT_ONCE);
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

  /** The locks, their holders, and the contenders that wait. */
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
      return Map.of(Looks.TEXT, parts.state.metrics("elasticsearch"));
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
      super(STATS.name(), transport, filters, Message::new, Peers.AT_ONCE);
      this.cluster = cluster;
      this.parts = parts;
    }

    @Override
    protected void doExecute(Task task, Message message, ActionListener<Reply> listener) {
      parts.askAll(Parts.STATS, message.values, answers -> {
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
      super(type.name(), transport, filters, Message::new, Peers.AT_ONCE);
      this.parts = parts;
      this.question = question;
      this.count = count;
    }

    @Override
    protected void doExecute(Task task, Message message, ActionListener<Reply> listener) {
      parts.askAll(question, message.values, answers -> {
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
      super(CANCEL, transport, filters, parts, Parts.CANCEL, "cancelled");
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
      super(PRIORITIZE, transport, filters, parts, Parts.PRIORITIZE, "prioritized");
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
      super(FOREGROUND.name(), transport, filters, Message::new, Peers.AT_ONCE);
    }

    @Override
    protected void doExecute(Task task, Message message, ActionListener<Reply> listener) {
      listener.onResponse(new Reply(Map.of()));
    }
  }
}
