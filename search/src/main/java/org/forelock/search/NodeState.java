package org.forelock.search;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.forelock.ClientStatus;
import org.forelock.LockType;

/** The NodeState reports a node's counts, current state and health, as JSON. Thread-safe. */
public final class NodeState {
  private final Stats stats;
  private final HeldRequests requests;
  private final Supplier<ClientStatus> status;
  private final Supplier<List<String>> problems;
  private final NodeIdentity identity;

  /** @param problems for an operator to correct, as writes are unguarded otherwise, or soon will be */
  public NodeState(Stats stats, HeldRequests requests, Supplier<ClientStatus> status,
      Supplier<List<String>> problems, NodeIdentity identity) {
    this.stats = stats;
    this.requests = requests;
    this.status = status;
    this.problems = problems;
    this.identity = identity;
  }

  /** Counts since the start, and the current state. */
  public Map<String, Object> toMap() {
    Map<String, Object> map = new LinkedHashMap<>();
    ClientStatus now = status.get();
    map.put("health", health(now));
    map.put("zookeeper", zookeeper(now));
    Map<String, Object> held = new LinkedHashMap<>();
    for (LockType type : LockType.values()) {
      held.put(Names.of(type), Map.of("requests", requests.count(type), "bytes", requests.bytes(type)));
    }
    held.put("most_bytes", requests.mostBytes());
    map.put("held", held);
    map.putAll(stats.toMap());
    return map;
  }

  /** The health; red: writes that should be guarded are not, or only because this was noticed. */
  private Map<String, Object> health(ClientStatus now) {
    List<String> found = new ArrayList<>(problems.get());
    found.addAll(identity.problems());
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("status", !found.isEmpty() ? "red" : now.connected() ? "green" : "yellow");
    map.put("problems", found);
    return map;
  }

  private Map<String, Object> zookeeper(ClientStatus status) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("connected", status.connected());
    map.put("identity", identity.own());
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

  /** For Prometheus. @param engine the search engine, as its metrics have it in their names */
  public String metrics(String engine) {
    return Metrics.of(engine, stats, requests, status.get());
  }
}
