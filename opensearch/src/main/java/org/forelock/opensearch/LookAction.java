package org.forelock.opensearch;

import java.util.Map;
import org.forelock.search.Looks;
import org.opensearch.action.ActionType;
import org.opensearch.action.support.ActionFilters;
import org.opensearch.action.support.HandledTransportAction;
import org.opensearch.common.inject.Inject;
import org.opensearch.core.action.ActionListener;
import org.opensearch.tasks.Task;
import org.opensearch.threadpool.ThreadPool;
import org.opensearch.transport.TransportService;

/** Questions that the asked node answers itself. They are actions so that roles can permit them. */
abstract class LookAction extends HandledTransportAction<LookRequest, LookAnswer> {
  /** The locks: all of them, or one monitor with its queue. */
  static final ActionType<LookAnswer> LOCKS = new ActionType<>("cluster:monitor/forelock/locks", LookAnswer::new);
  /** The metrics for Prometheus. */
  static final ActionType<LookAnswer> METRICS = new ActionType<>("cluster:monitor/forelock/metrics", LookAnswer::new);

  /** Does nothing: permission to ask is the answer. */
  static final ActionType<LookAnswer> FOREGROUND = new ActionType<>(ForegroundPermit.ACTION, LookAnswer::new);

  private final Looks looks;

  private LookAction(ActionType<?> type, ThreadPool threads, TransportService transport, ActionFilters filters) {
    super(type.name(), transport, filters, LookRequest::new);
    this.looks = new Looks(threads.generic());
  }

  /** On a thread that may wait. */
  abstract Map<String, Object> answer(Map<String, String> parameters);

  @Override
  protected void doExecute(Task task, LookRequest request, ActionListener<LookAnswer> listener) {
    looks.ask(() -> answer(request.parameters), (seen, problem) -> {
      if (problem == null) {
        listener.onResponse(new LookAnswer(seen));
      } else {
        listener.onFailure(Answers.of(problem));
      }
    });
  }

  /** The locks, their holders, and the contenders that wait. */
  public static final class LocksAction extends LookAction {
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
    Map<String, Object> answer(Map<String, String> parameters) {
      return Looks.locks(parts.locks.inspector(), parameters);
    }
  }

  /** The numbers of this node. */
  public static final class MetricsAction extends LookAction {
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
    Map<String, Object> answer(Map<String, String> parameters) {
      return Map.of(Looks.TEXT, parts.state.metrics("opensearch"));
    }
  }

  /** Does nothing. */
  public static final class ForegroundAction extends HandledTransportAction<LookRequest, LookAnswer> {
    /**
     * Called by the node.
     *
     * @param transport between nodes
     * @param filters of actions, which may refuse it
     */
    @Inject
    public ForegroundAction(TransportService transport, ActionFilters filters) {
      super(FOREGROUND.name(), transport, filters, LookRequest::new);
    }

    @Override
    protected void doExecute(Task task, LookRequest request, ActionListener<LookAnswer> listener) {
      listener.onResponse(new LookAnswer(Map.of()));
    }
  }
}
