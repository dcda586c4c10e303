package org.forelock.elasticsearch;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.elasticsearch.cluster.node.DiscoveryNode;
import org.elasticsearch.core.TimeValue;
import org.elasticsearch.index.shard.ShardId;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.tasks.TaskManager;
import org.forelock.search.HeldRequests;
import org.forelock.search.Leases;
import org.forelock.search.LockService;
import org.forelock.search.NodeIdentity;
import org.forelock.search.NodeLog;
import org.forelock.search.NodeState;
import org.forelock.search.Selection;
import org.forelock.search.Stats;

/** The plugin's own objects, for those that the node makes. Thread-safe. */
public final class Parts implements Refreshes {
  static final String STATS = "internal:plugin/forelock/stats";
  static final String PRIORITIZE = "internal:plugin/forelock/prioritize";
  static final String CANCEL = "internal:plugin/forelock/cancel";
  static final String LEASES = "internal:plugin/forelock/leases";
  private static final String IDENTITY = "internal:plugin/forelock/identity";
  private static final String LEASE = "internal:plugin/forelock/lease";
  private static final TimeValue TIMEOUT = TimeValue.timeValueSeconds(10);

  final ForelockSettings settings;
  final Stats stats;
  final HeldRequests requests;
  final LockService locks;
  final PrimaryCheck check;
  final Leases leases;
  final NodeIdentity identity;
  final ForegroundPermit<?> permit;
  final NodeState state;
  final LastWrites writes = new LastWrites();
  final ArchivedSettings archived = new ArchivedSettings(new NodeLog()::log);
  private volatile Peers peers;
  private volatile Ancestry ancestry;
  private volatile Refreshes refreshes;

  Parts(ForelockSettings settings, Stats stats, HeldRequests requests, LockService locks, PrimaryCheck check,
      Leases leases, NodeIdentity identity, ForegroundPermit<?> permit) {
    this.settings = settings;
    this.stats = stats;
    this.requests = requests;
    this.locks = locks;
    this.check = check;
    this.leases = leases;
    this.identity = identity;
    this.permit = permit;
    this.state = new NodeState(stats, requests, locks::status, archived::problems, identity);
  }

  /** To be called before the node takes requests. */
  void use(Peers nodes, TaskManager tasks, Refreshes shown) {
    peers = nodes;
    refreshes = shown;
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

  /** What a task descends from ends its wait, where that is cancelled. */
  void watch(Task task) {
    ancestry.watch(task);
  }

  @Override
  public void await(ShardId shard, Consumer<Boolean> shown) {
    refreshes.await(shard, shown);
  }
}
