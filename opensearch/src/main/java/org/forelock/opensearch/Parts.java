package org.forelock.opensearch;

import java.util.function.Consumer;
import org.forelock.search.HeldRequests;
import org.forelock.search.Leases;
import org.forelock.search.LockService;
import org.forelock.search.NodeIdentity;
import org.forelock.search.NodeLog;
import org.forelock.search.NodeState;
import org.forelock.search.Stats;
import org.opensearch.action.bulk.BulkShardRequest;
import org.opensearch.action.bulk.BulkShardResponse;
import org.opensearch.core.action.ActionListener;
import org.opensearch.core.index.shard.ShardId;

/** The plugin's own objects, for those that the node makes. Thread-safe. */
public final class Parts implements BulkWriter, Refreshes {
  final ForelockSettings settings;
  final Stats stats;
  final HeldRequests requests;
  final LockService locks;
  final PrimaryCheck check;
  final Leases leases;
  final NodeIdentity identity;
  final ForegroundPermit<?> permit;
  final RestBase.Actions actions;
  final NodeState state;
  final LastWrites writes = new LastWrites();
  final ArchivedSettings archived = new ArchivedSettings(new NodeLog()::log);
  private volatile Ancestry ancestry;
  private volatile Refreshes refreshes;
  private volatile BulkWriter writer;

  Parts(ForelockSettings settings, Stats stats, HeldRequests requests, LockService locks, PrimaryCheck check,
      Leases leases, NodeIdentity identity, ForegroundPermit<?> permit, RestBase.Actions actions) {
    this.settings = settings;
    this.stats = stats;
    this.requests = requests;
    this.locks = locks;
    this.check = check;
    this.leases = leases;
    this.identity = identity;
    this.permit = permit;
    this.actions = actions;
    this.state = new NodeState(stats, requests, locks::status, archived::problems, identity);
  }

  void use(Ancestry found, BulkWriter shards, Refreshes shown) {
    ancestry = found;
    writer = shards;
    refreshes = shown;
  }

  @Override
  public void write(BulkShardRequest request, ActionListener<BulkShardResponse> listener) {
    writer.write(request, listener);
  }

  @Override
  public void await(ShardId shard, Consumer<Boolean> shown) {
    refreshes.await(shard, shown);
  }

  Ancestry ancestry() {
    return ancestry;
  }
}
