package org.forelock.opensearch;

import java.util.LinkedHashMap;
import java.util.Map;
import org.forelock.ForelockException;
import org.forelock.Inspector;
import org.forelock.search.BoundedWork;
import org.forelock.search.LocksJson;
import org.forelock.search.Refusals;
import org.opensearch.action.ActionRunnable;
import org.opensearch.action.ActionType;
import org.opensearch.action.support.ActionFilters;
import org.opensearch.action.support.HandledTransportAction;
import org.opensearch.common.inject.Inject;
import org.opensearch.core.action.ActionListener;
import org.opensearch.tasks.Task;
import org.opensearch.threadpool.ThreadPool;
import org.opensearch.transport.TransportService;

/** Questions that the node answers that was asked. They are actions so that roles can permit them. */
abstract class LookAction extends HandledTransportAction<LookRequest, LookAnswer> {
  /** What is locked: all that is, or one monitor with its queue. */
  static final ActionType<LookAnswer> LOCKS = new ActionType<>("cluster:monitor/forelock/locks", LookAnswer::new);
  /** What Prometheus reads. */
  static final ActionType<LookAnswer> METRICS = new ActionType<>("cluster:monitor/forelock/metrics", LookAnswer::new);

  static final String MONITOR = "monitor";
  static final String ALL = "all";
  static final String TEXT = "text";

  /** So many look at a time, and so many more wait: each takes a thread for as long as ZooKeeper is silent. */
  private static final int MAX_LOOKS = 4;
  private static final int MAX_WAITING = 16;

  private final BoundedWork work;

  private LookAction(ActionType<?> type, ThreadPool threads, TransportService transport, ActionFilters filters) {
    super(type.name(), transport, filters, LookRequest::new);
    this.work = new BoundedWork(threads.generic(), MAX_LOOKS, MAX_WAITING);
  }

  /** On a thread that may wait. */
  abstract Map<String, Object> answer(Map<String, String> parameters);

  @Override
  protected void doExecute(Task task, LookRequest request, ActionListener<LookAnswer> listener) {
    boolean taken = work.offer(ActionRunnable.supply(listener, () -> {
      try {
        return new LookAnswer(answer(request.parameters));
      } catch (ForelockException problem) {
        throw Answers.of(Refusals.notObtained(problem));
      }
    }));
    if (!taken) {
      listener.onFailure(Answers.of(Refusals.of(Refusals.TOO_MANY_REQUESTS, "overloaded", "",
          "so many look at the locks through this node that no more are taken; try again later")));
    }
  }

  /** What is locked, by whom, and who waits. */
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
      Inspector inspector = parts.locks.inspector();
      String monitor = parameters.get(MONITOR);
      if (monitor == null) {
        return LocksJson.list(inspector.list(parameters.containsKey(ALL)));
      }
      return LocksJson.show(inspector.show(monitor).orElseThrow(() ->
          Answers.of(Refusals.of(Refusals.NOT_FOUND, "no_such_monitor", monitor, "there is no monitor " + monitor))));
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
      Map<String, Object> answer = new LinkedHashMap<>();
      answer.put(TEXT, parts.state.metrics("opensearch"));
      return answer;
    }
  }
}
