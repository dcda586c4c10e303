package org.forelock.opensearch;

import java.util.function.Predicate;
import org.forelock.search.Guard;
import org.forelock.search.Headers;
import org.forelock.search.HeldRequest;
import org.forelock.search.HeldRequests;
import org.forelock.search.Sends;
import org.forelock.search.Shard;
import org.opensearch.action.bulk.BulkShardRequest;
import org.opensearch.action.support.replication.TransportReplicationAction.ConcreteShardRequest;
import org.opensearch.action.update.UpdateRequest;
import org.opensearch.common.util.concurrent.ThreadContext;
import org.opensearch.common.util.concurrent.ThreadContext.StoredContext;
import org.opensearch.core.index.shard.ShardId;
import org.opensearch.core.transport.TransportResponse;
import org.opensearch.transport.Transport.Connection;
import org.opensearch.transport.TransportInterceptor.AsyncSender;
import org.opensearch.transport.TransportRequest;
import org.opensearch.transport.TransportRequestOptions;
import org.opensearch.transport.TransportResponseHandler;

/** The GuardedSends of a node are the parts of writes that it sends to others with their guard. Thread-safe. */
final class GuardedSends {
  static final String SHARD_BULK = "indices:data/write/bulk[s]";
  static final String SHARD_BULK_ON_PRIMARY = SHARD_BULK + "[p]";
  private static final String SHARD_UPDATE = "indices:data/write/update[s]";

  private final HeldRequests requests;
  private final ThreadContext context;
  private final Predicate<Guard> isLocal;

  /** @param isLocal whether this node holds the locks of a guard */
  GuardedSends(HeldRequests requests, ThreadContext context, Predicate<Guard> isLocal) {
    this.requests = requests;
    this.context = context;
    this.isLocal = isLocal;
  }

  /** Numbers the attempts at what this node sends under its own locks, and marks what any node sends again. */
  AsyncSender around(AsyncSender sender) {
    return new AsyncSender() {
      @Override
      public <T extends TransportResponse> void sendRequest(Connection connection, String action,
          TransportRequest request, TransportRequestOptions options, TransportResponseHandler<T> handler) {
        Shard shard = isPart(action) ? shardOf(request) : null;
        String name = action.equals(SHARD_UPDATE) ? Headers.UPDATE_GUARD : Headers.GUARD;
        String text = shard == null ? null : Carrier.get(context, name);
        Guard guard = text == null ? null : Guard.parse(text);
        if (guard == null || guard.allowed()) {
          sender.sendRequest(connection, action, request, options, handler);
          return;
        }
        try (StoredContext ignored = Carrier.with(context, name, sent(guard, action, shard).text())) {
          sender.sendRequest(connection, action, request, options, handler);
        }
      }
    };
  }

  static boolean isPart(String action) {
    return action.equals(SHARD_BULK) || action.equals(SHARD_BULK_ON_PRIMARY) || action.equals(SHARD_UPDATE);
  }

  /** The guard for the next node. */
  private Guard sent(Guard guard, String action, Shard shard) {
    HeldRequest held = isLocal.test(guard) ? requests.get(guard.ticket) : null;
    Sends sends = held == null ? context.getTransient(Sends.KEY) : held.sends;
    boolean again = sends != null && sends.again(action.equals(SHARD_UPDATE), shard);
    boolean numbered = held != null && !action.equals(SHARD_BULK_ON_PRIMARY);
    Guard next = numbered ? guard.withAttempt(held.nextAttempt(shard)) : guard;
    return again ? next.sentAgain() : next;
  }

  /** The request for a shard, without the wrapper that names the copy. */
  static TransportRequest innerOf(TransportRequest request) {
    return request instanceof ConcreteShardRequest ? ((ConcreteShardRequest<?>) request).getRequest() : request;
  }

  /** @return null: it is for none */
  static Shard shardOf(TransportRequest request) {
    TransportRequest inner = innerOf(request);
    if (inner instanceof UpdateRequest) {
      ShardId id = ((UpdateRequest) inner).getShardId();
      return id == null ? null : Shards.of(id);
    }
    return inner instanceof BulkShardRequest ? Shards.of(((BulkShardRequest) inner).shardId()) : null;
  }
}
