package org.forelock.opensearch;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.forelock.ConfigurationException;
import org.forelock.ForelockClient;
import org.forelock.LockType;
import org.forelock.ZooKeeperUtil;
import org.forelock.search.Ancestors;
import org.forelock.search.ClientFactory;
import org.forelock.search.Folders;
import org.forelock.search.ForelockExtension;
import org.forelock.search.Headers;
import org.forelock.search.HeldRequests;
import org.forelock.search.HolderLook;
import org.forelock.search.HolderTokens;
import org.forelock.search.Leases;
import org.forelock.search.LockService;
import org.forelock.search.NodeEnd;
import org.forelock.search.NodeIdentity;
import org.forelock.search.NodeLog;
import org.forelock.search.NodeParts;
import org.forelock.search.NodeState;
import org.forelock.search.Stats;
import org.forelock.search.Timeouts;
import org.forelock.search.UnguardedPeriods;
import org.opensearch.cluster.metadata.IndexNameExpressionResolver;
import org.opensearch.cluster.node.DiscoveryNode;
import org.opensearch.cluster.service.ClusterService;
import org.opensearch.common.settings.Settings;
import org.opensearch.common.unit.TimeValue;
import org.opensearch.common.util.concurrent.ThreadContext.StoredContext;
import org.opensearch.common.util.concurrent.ThreadContext;
import org.opensearch.core.index.shard.ShardId;
import org.opensearch.rest.RestHeaderDefinition;
import org.opensearch.threadpool.ThreadPool;

/**
 * The CommonParts are what the plugin consists of in every search engine, put together once; each adds what it alone
 * has. Thread-safe.
 */
abstract class CommonParts implements Refreshes {
  /** Of a question to other nodes. */
  static final TimeValue TIMEOUT = TimeValue.timeValueSeconds(10);

  final ForelockClient client;
  final ClientFactory factory;
  final ForelockSettings settings;
  final Stats stats = new Stats();
  final HeldRequests requests;
  final LockService locks;
  final ThreadContext context;
  final WritePlanner planner;
  final Workers workers;
  final NodeIdentity identity;
  final NodeParts node;
  final Leases leases;
  final NodeState state;
  final LastWrites writes = new LastWrites();
  final ArchivedSettings archived = new ArchivedSettings(new NodeLog()::log);
  private final UnguardedPeriods unguarded;
  final ForegroundPermit<?> permit;
  private volatile Peers peers;
  private volatile Refreshes refreshes;

  /**
   * Connects to ZooKeeper in the background.
   *
   * @param given to the node
   * @param noFencing why writes cannot be fenced; null: they can, or cannot be asked for
   * @throws IllegalArgumentException if the configuration is wrong
   */
  CommonParts(Settings given, Folders folders, ClusterService cluster, ThreadPool threads,
      IndexNameExpressionResolver resolver, RestBase.Actions actions, String noFencing) {
    factory = ForelockSettings.factory(given, folders);
    try {
      client = factory.open();
    } catch (ConfigurationException problem) {
      throw new IllegalArgumentException("forelock: " + problem.getMessage(), problem);
    }
    context = threads.getThreadContext();
    BiConsumer<Long, Runnable> later = (millis, task) -> later(threads, millis, task);
    settings = new ForelockSettings(given, cluster.getClusterSettings());
    requests = new HeldRequests(settings, stats, PrimaryAnswer::is, later);
    locks = new LockService(client, factory.lingers());
    planner = new WritePlanner(cluster, resolver, context, requests, noFencing);
    workers = new Workers(threads);
    unguarded = new UnguardedPeriods(System::nanoTime,
        () -> !settings.allowsUnguarded() || locks.status().connected(), new NodeLog()::log,
        task -> later(threads, 1000, task));
    identity = new NodeIdentity(locks::identity, later, new NodeLog()::log);
    node = new NodeParts(settings, requests, locks,
        new Timeouts(
            settings, factory.timeoutMillis(LockType.FOREGROUND), factory.timeoutMillis(LockType.BACKGROUND)),
        new HolderLook(HolderLook.by(locks::inspector), threads.generic(), later, System::nanoTime),
        new HolderTokens(HolderTokens.by(locks::inspector), threads.generic(), System::nanoTime),
        stats, unguarded, workers, planner::localNode, identity);
    leases = new Leases(settings, node, threads.generic(), later, System::nanoTime);
    state = new NodeState(stats, requests, locks::status, archived::problems, identity);
    permit = new ForegroundPermit<Reply>(
        settings, listener -> actions.execute(Questions.FOREGROUND, new Message(Map.of()), listener));
    cluster.addListener(archived);
    cluster.addListener(event -> {
      if (event.nodesChanged()) {
        identity.nodesChanged();
      }
    });
  }

  /** In a context of its own: what follows is no part of the request that has begun it. */
  private static void later(ThreadPool threads, long millis, Runnable task) {
    try (StoredContext ignored = threads.getThreadContext().stashContext()) {
      SearchEngine.later(threads, millis, task);
    }
  }

  /** The headers that requests are read for. */
  static Collection<RestHeaderDefinition> headers() {
    return Stream.of(Headers.PRIORITY, Headers.REPORT, Headers.QUEUE, Headers.REQUIRED, Headers.HELD)
        .map(name -> new RestHeaderDefinition(name, false)).toList();
  }

  /** What the node is to do with writes before it does them. */
  final WriteFilter filter(Extras extras) {
    return new WriteFilter(settings, planner, node, workers, context, extras, this, permit);
  }

  /** Gives the node's client to plugins that take locks themselves. */
  final void lend(List<ForelockExtension> extensions) {
    ZooKeeperUtil.use(client.borrowed());
    extensions.forEach(extension -> {
      extension.useContext(new ContextOfLocks(context));
      extension.useForelock(client.borrowed());
    });
  }

  /** To be called before the node takes requests. */
  final void use(Peers nodes, Ancestors ancestry, Refreshes shown) {
    peers = nodes;
    refreshes = shown;
    Questions.serve(nodes, this, ancestry);
    identity.use(then -> nodes.askAll(Questions.IDENTITY, Map.of(), TIMEOUT, answers -> {
      List<NodeIdentity.Answer> known = new ArrayList<>();
      answers.all.forEach((node, answer) -> known.add(new NodeIdentity.Answer(
          node.getEphemeralId(), node.getName(), answer == null ? null : (String) answer.get("identity"))));
      then.accept(known);
    }));
  }

  /** Asks all nodes. @param timeout null: none */
  final void askAll(
      String question, Map<String, Object> values, TimeValue timeout, Consumer<Peers.Answered> then) {
    peers.askAll(question, values, timeout, then);
  }

  /** Asks the node that has given a lease. */
  final void ask(String lease, Map<String, String> question, BiConsumer<Map<String, Object>, Exception> then) {
    DiscoveryNode of = peers.node(Leases.nodeOf(lease));
    if (of == null) {
      then.accept(null, null);
    } else {
      peers.ask(of, Questions.LEASE, new HashMap<>(question), TIMEOUT, then);
    }
  }

  @Override
  public void await(ShardId shard, Consumer<Boolean> shown) {
    refreshes.await(shard, shown);
  }

  final void close() {
    close(() -> {});
  }

  /** @param queue ends the dead-letter queue */
  final void close(Runnable queue) {
    NodeEnd.close(leases, requests, queue, unguarded, locks::close);
  }
}
