package org.forelock.opensearch;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.forelock.search.Names;
import org.forelock.search.Sends;
import org.opensearch.cluster.ClusterState;
import org.opensearch.cluster.node.DiscoveryNode;
import org.opensearch.cluster.routing.IndexShardRoutingTable;
import org.opensearch.cluster.routing.ShardRouting;
import org.opensearch.cluster.service.ClusterService;
import org.opensearch.common.util.concurrent.ThreadContext.StoredContext;
import org.opensearch.core.common.io.stream.StreamInput;
import org.opensearch.core.common.io.stream.StreamOutput;
import org.opensearch.core.index.shard.ShardId;
import org.opensearch.core.transport.TransportResponse;
import org.opensearch.index.shard.IndexShard;
import org.opensearch.index.translog.Translog.Location;
import org.opensearch.indices.IndicesService;
import org.opensearch.threadpool.ThreadPool;
import org.opensearch.transport.TransportException;
import org.opensearch.transport.TransportRequest;
import org.opensearch.transport.TransportResponseHandler;
import org.opensearch.transport.TransportService;

/**
 * A RefreshService asks the nodes of a shard's copies when written documents become visible, and answers such
 * questions: {@code refresh=wait_for} waits for that without the locks of the write. Thread-safe.
 */
final class RefreshService implements Refreshes {
  private static final String ACTION = "internal:plugin/forelock/refreshed";

  private final TransportService transport;
  private final ClusterService cluster;
  private final ThreadPool threads;
  private final IndicesService indices;
  private final LastWrites writes;

  RefreshService(TransportService transport, ClusterService cluster, ThreadPool threads, IndicesService indices,
      LastWrites writes) {
    this.transport = transport;
    this.cluster = cluster;
    this.threads = threads;
    this.indices = indices;
    this.writes = writes;
    // A thread that may block: where too many wait, the shard is refreshed in it.
    transport.registerRequestHandler(ACTION, ThreadPool.Names.GENERIC, Question::new, (question, channel, task) ->
        here(question.shard, forced -> channel.sendResponse(new Answer(forced))));
  }

  /** Sends the answer. */
  private interface Send {
    void answer(boolean forced) throws IOException;
  }

  private void here(ShardId id, Send send) throws IOException {
    IndexShard shard = indices.getShardOrNull(id);
    Location location = writes.of(id);
    if (shard == null || location == null) {
      send.answer(false);
      return;
    }
    shard.addRefreshListener(location, forced -> {
      try {
        send.answer(forced);
      } catch (IOException gone) {
        throw new java.io.UncheckedIOException(gone);
      }
    });
  }

  @Override
  public void await(ShardId shard, Consumer<Boolean> shown) {
    ClusterState state = cluster.state();
    IndexShardRoutingTable table = state.routingTable().hasIndex(shard.getIndex())
        ? state.routingTable().shardRoutingTable(shard) : null;
    List<ShardRouting> copies = table == null ? List.of() : table.activeShards();
    AtomicInteger left = new AtomicInteger(copies.size() + 1);
    AtomicBoolean forced = new AtomicBoolean();
    Consumer<Boolean> one = byForce -> {
      forced.compareAndSet(false, byForce);
      if (left.decrementAndGet() == 0) {
        shown.accept(forced.get());
      }
    };
    for (ShardRouting copy : copies) {
      DiscoveryNode node = state.nodes().get(copy.currentNodeId());
      if (node == null) {
        one.accept(false);
        continue;
      }
      try (StoredContext ignored = threads.getThreadContext().stashContext()) {
        transport.sendRequest(node, ACTION, new Question(shard), new Handler(one));
      }
    }
    one.accept(false);
  }

  private static final class Handler implements TransportResponseHandler<Answer> {
    private final Consumer<Boolean> answer;

    Handler(Consumer<Boolean> answer) {
      this.answer = answer;
    }

    @Override
    public Answer read(StreamInput in) throws IOException {
      return new Answer(in);
    }

    @Override
    public void handleResponse(Answer response) {
      answer.accept(response.forced);
    }

    /** A copy that is not there any more shows nothing old. */
    @Override
    public void handleException(TransportException problem) {
      answer.accept(false);
    }

    @Override
    public String executor() {
      return ThreadPool.Names.SAME;
    }
  }

  private static final class Question extends TransportRequest {
    private final ShardId shard;

    Question(ShardId shard) {
      this.shard = shard;
    }

    Question(StreamInput in) throws IOException {
      super(in);
      shard = new ShardId(in);
      Additions.passOver(in);
    }

    @Override
    public void writeTo(StreamOutput out) throws IOException {
      super.writeTo(out);
      shard.writeTo(out);
      Additions.write(out);
    }
  }

  private static final class Answer extends TransportResponse {
    private final boolean forced;

    Answer(boolean forced) {
      this.forced = forced;
    }

    Answer(StreamInput in) throws IOException {
      super(in);
      forced = in.readBoolean();
      Additions.passOver(in);
    }

    @Override
    public void writeTo(StreamOutput out) throws IOException {
      out.writeBoolean(forced);
      Additions.write(out);
    }
  }
}
