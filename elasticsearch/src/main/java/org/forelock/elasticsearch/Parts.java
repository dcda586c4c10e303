package org.forelock.elasticsearch;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.elasticsearch.client.internal.Client;
import org.elasticsearch.cluster.metadata.IndexNameExpressionResolver;
import org.elasticsearch.cluster.node.DiscoveryNode;
import org.elasticsearch.cluster.service.ClusterService;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.core.TimeValue;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.tasks.TaskManager;
import org.elasticsearch.threadpool.ThreadPool;
import org.forelock.search.Folders;
import org.forelock.search.Leases;
import org.forelock.search.NodeIdentity;
import org.forelock.search.Selection;

/** The plugin's own objects, for those that the node makes. Thread-safe. */
public final class Parts extends CommonParts {
  static final String STATS = "internal:plugin/forelock/stats";
  static final String PRIORITIZE = "internal:plugin/forelock/prioritize";
  static final String CANCEL = "internal:plugin/forelock/cancel";
  static final String LEASES = "internal:plugin/forelock/leases";
  private static final String IDENTITY = "internal:plugin/forelock/identity";
  private static final String LEASE = "internal:plugin/forelock/lease";
  private static final TimeValue TIMEOUT = TimeValue.timeValueSeconds(10);

  final PrimaryCheck check;
  final ForegroundPermit<?> permit;
  private volatile Peers peers;
  private volatile Ancestry ancestry;

  Parts(Settings given, Folders folders, ClusterService cluster, ThreadPool threads,
      IndexNameExpressionResolver resolver, Client own) {
    super(given, folders, cluster, threads, resolver, null);
    check = new PrimaryCheck(requests, stats, threads, cluster, settings::isStrict);
    permit = new ForegroundPermit<Reply>(
        settings, listener -> own.execute(Questions.FOREGROUND, new Message(Map.of()), listener));
  }

  /** To be called before the node takes requests. */
  void use(Peers nodes, TaskManager tasks, Refreshes shown) {
    peers = nodes;
    use(shown);
    ancestry = new Ancestry(tasks::getTask, nodes::localId, task -> requests.cancel(
        held -> ancestry.descends(held.task, task), "task " + task.number() + " was cancelled"));
    peers.serve(STATS, Peers.AT_ONCE, (question, reply) -> reply.accept(state.toMap()));
    peers.serve(LEASE, Peers.AT_ONCE, (question, reply) -> reply.accept(leases.answer(question)));
    peers.serve(LEASES, Peers.AT_ONCE, (question, reply) -> reply.accept(leases.list()));
    peers.serve(IDENTITY, Peers.AT_ONCE, (question, reply) -> reply.accept(Map.of("identity", identity.own())));
    identity.use(then -> peers.askAll(IDENTITY, Map.of(), TIMEOUT, answers -> {
      List<NodeIdentity.Answer> known = new ArrayList<>();
      answers.all.forEach((node, answer) -> known.add(new NodeIdentity.Answer(
          node.getEphemeralId(), node.getName(), answer == null ? null : (String) answer.get("identity"))));
      then.accept(known);
    }));
    peers.serve(CANCEL, Peers.AT_ONCE, (question, reply) -> {
      Selection selection = Selection.of(texts(question));
      reply.accept(Map.of("cancelled", requests.cancel(held -> selection.fits(held, ancestry), "by request")));
    });
    peers.serve(PRIORITIZE, Peers.AT_ONCE, (question, reply) -> {
      Selection selection = Selection.of(texts(question));
      reply.accept(Map.of("prioritized", requests.prioritize(
          held -> selection.fits(held, ancestry), Selection.wanted(texts(question)))));
    });
  }

  private static Map<String, String> texts(Map<String, Object> values) {
    Map<String, String> texts = new HashMap<>();
    values.forEach((name, value) -> texts.put(name, (String) value));
    return texts;
  }

  void askAll(String question, Map<String, Object> values, Consumer<Peers.Answered> then) {
    peers.askAll(question, values, TIMEOUT, then);
  }

  /** Asks the node that has given a lease. */
  void ask(String lease, Map<String, String> question, BiConsumer<Map<String, Object>, Exception> then) {
    DiscoveryNode node = peers.node(Leases.nodeOf(lease));
    if (node == null) {
      then.accept(null, null);
    } else {
      peers.ask(node, LEASE, new HashMap<>(question), TIMEOUT, then);
    }
  }

  /** Ends a task's wait when an ancestor of it is cancelled. */
  void watch(Task task) {
    ancestry.watch(task);
  }
}
