package org.forelock.elasticsearch;

import java.util.function.Consumer;
import java.util.function.Supplier;
import org.elasticsearch.cluster.node.DiscoveryNode;
import org.elasticsearch.index.shard.ShardId;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.tasks.TaskManager;
import org.forelock.search.HeldRequests;
import org.forelock.search.Leases;
import org.forelock.search.LockService;
import org.forelock.search.NodeIdentity;
import org.forelock.search.NodeLog;
import org.forelock.search.NodeState;
import org.forelock.search.Stats;

/** The plugin's own objects, for those that the node makes. Thread-safe. */
public final class Parts implements Refreshes {
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
  void use(TaskManager tasks, Supplier<DiscoveryNode> node, Refreshes shown) {
    refreshes = shown;
    ancestry = new Ancestry(tasks::getTask, () -> node.get().getId(), task -> requests.cancel(
        held -> ancestry.descends(held.task, task), "task " + task.number() + " was cancelled"));
  }

  /** What a task descends from ends its wait, where that is cancelled. */
  void watch(Task task) {
    ancestry.watch(task);
  }

  @Override
  public void await(ShardId shard, Consumer<Boolean> shown) {
    refreshes.await(shard, shown);
  }

  Ancestry ancestry() {
    return ancestry;
  }
}
