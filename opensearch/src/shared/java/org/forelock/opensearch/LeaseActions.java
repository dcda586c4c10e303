package org.forelock.opensearch;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.forelock.search.LeaseRequest;
import org.forelock.search.Leases;
import org.forelock.search.Refusal;
import org.forelock.search.Refusals;
import org.opensearch.action.support.ActionFilters;
import org.opensearch.action.support.HandledTransportAction;
import org.opensearch.common.inject.Inject;
import org.opensearch.common.util.concurrent.ThreadContext.StoredContext;
import org.opensearch.common.util.concurrent.ThreadContext;
import org.opensearch.core.action.ActionListener;
import org.opensearch.tasks.Task;
import org.opensearch.threadpool.ThreadPool;
import org.opensearch.transport.TransportService;

/** Leases of locks, over REST. */
final class LeaseActions {
  private LeaseActions() {}

  private static void tell(Map<String, Object> told, Exception problem, ActionListener<Reply> listener) {
    if (problem == null) {
      listener.onResponse(new Reply(told));
    } else {
      listener.onFailure(Answers.of(problem));
    }
  }

  /** Gives one. */
  public static final class Take extends HandledTransportAction<LeaseMessage, Reply> {
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
      super(Questions.LEASE_TAKE.name(), transport, filters, LeaseMessage::new, Wire.AT_ONCE);
      this.context = threads.getThreadContext();
      this.parts = parts;
    }

    @Override
    protected void doExecute(Task task, LeaseMessage message, ActionListener<Reply> listener) {
      Supplier<StoredContext> caller = context.newRestorableContext(true);
      LeaseRequest lease = LeaseRequest.parse(message.body, parts.settings); // before anybody is asked
      parts.permit.within(lease, (wish, refusal) -> {
        if (refusal != null) {
          tell(null, refusal, listener);
          return;
        }
        ((LeaseMessage.Waiting) task).whenCancelled(parts.leases.take(wish, task, (told, problem) -> {
          try (StoredContext ignored = caller.get()) {
            Answers.tryAgainLater(context, problem, parts.settings.retryAfterSeconds());
            tell(told, problem, listener);
          }
        }));
      });
    }
  }

  /** Keeps one, or gives it back. */
  public static final class Use extends HandledTransportAction<Message, Reply> {
    private final Parts parts;

    /**
     * Called by the node.
     *
     * @param transport between nodes
     * @param filters of actions
     * @param parts the plugin's own
     */
    @Inject
    public Use(TransportService transport, ActionFilters filters, Parts parts) {
      super(Questions.LEASE_USE.name(), transport, filters, Message::new, Wire.AT_ONCE);
      this.parts = parts;
    }

    @Override
    protected void doExecute(Task task, Message message, ActionListener<Reply> listener) {
      Map<String, String> question = new LinkedHashMap<>();
      message.values.forEach((name, value) -> question.put(name, (String) value));
      String id = question.get("id");
      parts.ask(id, question, (answer, problem) -> {
        Map<String, Object> told = null;
        Exception refusal = problem == null ? null : Refusals.leaseUnknown(id, problem.getMessage());
        try {
          told = refusal == null ? Leases.told(question, answer) : null;
        } catch (Refusal notDone) {
          refusal = notDone;
        }
        tell(told, refusal, listener);
      });
    }
  }

  /** Lists them. */
  public static final class All extends HandledTransportAction<Message, Reply> {
    private final Parts parts;

    /**
     * Called by the node.
     *
     * @param transport between nodes
     * @param filters of actions
     * @param parts the plugin's own
     */
    @Inject
    public All(TransportService transport, ActionFilters filters, Parts parts) {
      super(Questions.LEASE_LIST.name(), transport, filters, Message::new, Wire.AT_ONCE);
      this.parts = parts;
    }

    @Override
    protected void doExecute(Task task, Message message, ActionListener<Reply> listener) {
      parts.askAll(Questions.LEASES_OF_NODE, message.values, CommonParts.TIMEOUT, answers -> {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("nodes", answers.nodes);
        map.put("failures", List.copyOf(answers.problems));
        listener.onResponse(new Reply(map));
      });
    }
  }
}
