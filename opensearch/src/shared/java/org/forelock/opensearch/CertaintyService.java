package org.forelock.opensearch;

import java.util.Map;
import java.util.function.LongConsumer;
import org.forelock.search.CertaintySource;
import org.forelock.search.Guard;
import org.forelock.search.HeldRequest;
import org.forelock.search.HeldRequests;
import org.forelock.search.Shard;
import org.opensearch.cluster.node.DiscoveryNode;
import org.opensearch.common.unit.TimeValue;

/** A CertaintyService asks other nodes whether the locks of a write are certain, and answers them. Thread-safe. */
final class CertaintyService implements CertaintySource {
  private static final String QUESTION = "internal:plugin/forelock/certainty";
  private static final String NANOS = "nanos";
  private static final TimeValue TIMEOUT = TimeValue.timeValueSeconds(5);

  private final Peers peers;

  CertaintyService(Peers peers, HeldRequests requests) {
    this.peers = peers;
    peers.serve(QUESTION, (question, reply) -> {
      HeldRequest held = requests.get((Long) question.get("ticket"));
      Shard shard = Shards.from(question);
      reply.accept(Map.of(NANOS, held == null ? 0L : held.promise(shard, (Integer) question.get("attempt"))));
    });
  }

  @Override
  public boolean isLocal(Guard guard) {
    return peers.localId().equals(guard.node);
  }

  @Override
  public void ask(Guard guard, Shard shard, LongConsumer answer) {
    DiscoveryNode node = peers.node(guard.node);
    if (node == null) {
      answer.accept(0);
      return;
    }
    Map<String, Object> question = Shards.values(shard);
    question.put("ticket", guard.ticket);
    question.put("attempt", guard.attempt);
    peers.ask(node, QUESTION, question, TIMEOUT,
        (values, problem) -> answer.accept(problem == null ? (Long) values.get(NANOS) : 0));
  }
}
