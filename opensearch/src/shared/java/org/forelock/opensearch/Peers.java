package org.forelock.opensearch;

import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.opensearch.cluster.node.DiscoveryNode;
import org.opensearch.cluster.service.ClusterService;
import org.opensearch.common.unit.TimeValue;
import org.opensearch.common.util.concurrent.ThreadContext.StoredContext;
import org.opensearch.threadpool.ThreadPool;
import org.opensearch.transport.TransportException;
import org.opensearch.transport.TransportService;

/** The Peers are the nodes of the cluster with the plugin, which ask each other. Thread-safe; no method blocks. */
final class Peers {
  private final TransportService transport;
  private final ClusterService cluster;
  private final ThreadPool threads;

  /** Answers a question, now or later. */
  interface Answering {
    void answer(Map<String, Object> question, Consumer<Map<String, Object>> reply);
  }

  /** What all nodes have answered. */
  static final class Answered {
    /** By the nodes' ids. */
    final Map<String, Map<String, Object>> nodes = new TreeMap<>();
    final Collection<String> problems = new TreeSet<>();
    /** The same by the nodes' processes, as it came; null: there was no answer. */
    final Map<DiscoveryNode, Map<String, Object>> all = new HashMap<>();
  }

  Peers(TransportService transport, ClusterService cluster, ThreadPool threads) {
    this.transport = transport;
    this.cluster = cluster;
    this.threads = threads;
  }

  String localId() {
    return cluster.localNode().getId();
  }

  /** Answers what other nodes ask, and this one, at once; to be called before the node takes requests. */
  void serve(String question, Answering answering) {
    transport.registerRequestHandler(question, Wire.AT_ONCE, Message::new, (message, channel, task) ->
        answering.answer(message.values, answer -> Wire.answer(channel, new Reply(answer))));
  }

  /** The same, on a thread that may block. */
  void serveBlocking(String question, Answering answering) {
    transport.registerRequestHandler(question, Wire.blocking(threads), Message::new, (message, channel, task) ->
        answering.answer(message.values, answer -> Wire.answer(channel, new Reply(answer))));
  }

  /** The node, if it is known. */
  DiscoveryNode node(String id) {
    return cluster.state().nodes().get(id);
  }

  /**
   * Asks a node on this one's own account.
   *
   * @param timeout null: none
   * @param then called once, in the caller's context, with the answer or the problem
   */
  void ask(DiscoveryNode node, String question, Map<String, Object> values, TimeValue timeout,
      BiConsumer<Map<String, Object>, Exception> then) {
    Supplier<StoredContext> caller = threads.getThreadContext().newRestorableContext(true);
    Handler handler = new Handler((answer, problem) -> {
      try (StoredContext ignored = caller.get()) {
        then.accept(answer, problem);
      }
    });
    try (StoredContext ignored = Wire.own(threads.getThreadContext())) {
      transport.sendRequest(node, question, new Message(values), Wire.within(timeout), handler);
    }
  }

  /** Asks all nodes. @param then called once */
  void askAll(String question, Map<String, Object> values, TimeValue timeout, Consumer<Answered> then) {
    Answered answers = new Answered();
    Collection<DiscoveryNode> nodes = cluster.state().nodes().getNodes().values();
    AtomicInteger left = new AtomicInteger(nodes.size());
    for (DiscoveryNode node : nodes) {
      ask(node, question, values, timeout, (answer, problem) -> {
        synchronized (answers) {
          answers.all.put(node, answer);
          if (problem != null) {
            answers.problems.add(node.getId() + ": " + problem.getMessage());
          } else {
            Map<String, Object> named = new LinkedHashMap<>();
            named.put("name", node.getName());
            named.putAll(answer);
            answers.nodes.put(node.getId(), named);
          }
        }
        if (left.decrementAndGet() == 0) {
          then.accept(answers);
        }
      });
    }
  }

  private static final class Handler extends Wire.Handler {
    private final BiConsumer<Map<String, Object>, Exception> then;

    Handler(BiConsumer<Map<String, Object>, Exception> then) {
      this.then = then;
    }

    @Override
    public void handleResponse(Reply reply) {
      then.accept(reply.values, null);
    }

    @Override
    public void handleException(TransportException problem) {
      then.accept(null, problem);
    }
  }
}
