package org.forelock.opensearch;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.forelock.ClientStatus;
import org.forelock.LockType;
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
  final LastWrites writes = new LastWrites();
  final ArchivedSettings archived = new ArchivedSettings(new NodeLog()::log);
  private volatile Ancestry ancestry;
  private volatile Refreshes refreshes;
  private volatile BulkWriter writer;

  Parts(ForelockSettings settings, Stats stats, HeldRequests requests, LockService locks, PrimaryCheck check) {
    this.settings = settings;
    this.stats = stats;
    this.requests = requests;
    this.locks = locks;
    this.check = check;
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

  /** For the REST interface: what happened, and what is there now. */
  Map<String, Object> snapshot() {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("health", health());
    map.put("zookeeper", zookeeper(locks.status()));
    Map<String, Object> held = new LinkedHashMap<>();
    for (LockType type : LockType.values()) {
      held.put(Names.of(type), Map.of("requests", requests.count(type), "bytes", requests.bytes(type)));
    }
    held.put("most_bytes", requests.mostBytes());
    map.put("held", held);
    map.putAll(stats.toMap());
    return map;
  }

  /** Red: what should be guarded is not, or only because this was noticed. */
  private Map<String, Object> health() {
    List<String> problems = archived.problems();
    String status = !problems.isEmpty() ? "red" : locks.status().connected() ? "green" : "yellow";
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("status", status);
    map.put("problems", problems);
    return map;
  }

  private static Map<String, Object> zookeeper(ClientStatus status) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("connected", status.connected());
    map.put("session", LocksJson.hex(status.sessionId()));
    map.put("session_timeout_ms", status.sessionTimeoutMillis());
    map.put("instance", status.instance());
    map.put("locks_granted", status.granted());
    map.put("locks_taken_again", status.takenAgain());
    map.put("locks_lingering", status.lingering());
    map.put("locks_lost", status.lost());
    map.put("requests", status.requests());
    map.put("sessions_expired", status.sessionsExpired());
    map.put("disconnections", status.disconnections());
    map.put("last_problem", status.lastProblem());
    return map;
  }
}
