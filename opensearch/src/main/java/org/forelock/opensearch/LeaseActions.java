package org.forelock.opensearch;

import java.util.Map;
import java.util.function.Supplier;
import org.forelock.search.LeaseRequest;
import org.forelock.search.Leases;
import org.opensearch.action.ActionType;
import org.opensearch.action.support.ActionFilters;
import org.opensearch.action.support.HandledTransportAction;
import org.opensearch.cluster.service.ClusterService;
import org.opensearch.common.inject.Inject;
import org.opensearch.common.util.concurrent.ThreadContext.StoredContext;
import org.opensearch.common.util.concurrent.ThreadContext;
import org.opensearch.core.action.ActionListener;
import org.opensearch.tasks.Task;
import org.opensearch.threadpool.ThreadPool;
import org.opensearch.transport.TransportService;

/** Leases of locks, over REST. These are actions so that roles can permit them. */
final class LeaseActions {
  /** Gives one, on the node that is asked. */
  static final ActionType<LookAnswer> TAKE =
      new ActionType<>("cluster:admin/forelock/leases/take", LookAnswer::new);
  /** Keeps one, or gives it back, on the node that has given it. */
  static final ActionType<NodesAnswer> USE = NodesAction.type("cluster:admin/forelock/leases/use");
  /** All of all nodes. */
  static final ActionType<NodesAnswer> LIST = NodesAction.type("cluster:admin/forelock/leases/list");

  private LeaseActions() {}

  /** Gives one. */
  public static final class Take extends HandledTransportAction<LeaseMessage, LookAnswer> {
    private final ThreadContext context;
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
    public Take(ThreadPool threads, TransportService transport, ActionFilters filters, Parts parts) {
      super(TAKE.name(), transport, filters, LeaseMessage::new);
      this.context = threads.getThreadContext();
      this.parts = parts;
    }

    @Override
    protected void doExecute(Task task, LeaseMessage message, ActionListener<LookAnswer> listener) {
      Supplier<StoredContext> caller = context.newRestorableContext(true);
      LeaseRequest lease = LeaseRequest.parse(message.body, parts.settings); // before anybody is asked
      parts.permit.within(lease, (wish, refusal) -> {
        if (refusal != null) {
          listener.onFailure(Answers.of(refusal));
          return;
        }
        ((LeaseMessage.Waiting) task).whenCancelled(parts.leases.take(wish, task, (told, problem) -> {
          try (StoredContext ignored = caller.get()) {
            if (problem == null) {
              listener.onResponse(new LookAnswer(told));
            } else {
              Answers.tryAgainLater(context, problem, parts.settings.retryAfterSeconds());
              listener.onFailure(Answers.of(problem));
            }
          }
        }));
      });
    }
  }

  /** Keeps one, or gives it back. */
  public static final class Use extends NodesAction {
    private final Parts parts;

    /**
     * Called by the node.
     *
     * @param threads the node's threads
     * @param cluster what the node knows of the cluster
     * @param transport between nodes
     * @param filters of actions
     * @param parts the plugin's own
     */
    @Inject
    public Use(ThreadPool threads, ClusterService cluster, TransportService transport, ActionFilters filters,
        Parts parts) {
      super(USE, threads, cluster, transport, filters);
      this.parts = parts;
    }

    @Override
    Map<String, Object> answer(Map<String, String> question) {
      return parts.leases.answer(question);
    }
  }

  /** Lists them. */
  public static final class All extends NodesAction {
    private final Parts parts;

    /**
     * Called by the node.
     *
     * @param threads the node's threads
     * @param cluster what the node knows of the cluster
     * @param transport between nodes
     * @param filters of actions
     * @param parts the plugin's own
     */
    @Inject
    public All(ThreadPool threads, ClusterService cluster, TransportService transport, ActionFilters filters,
        Parts parts) {
      super(LIST, threads, cluster, transport, filters);
      this.parts = parts;
    }

    @Override
    Map<String, Object> answer(Map<String, String> question) {
      return parts.leases.list();
    }
  }
}
