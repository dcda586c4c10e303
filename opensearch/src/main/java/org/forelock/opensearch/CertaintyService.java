package org.forelock.opensearch;

import java.io.IOException;
import java.util.function.LongConsumer;
import org.forelock.search.CertaintySource;
import org.forelock.search.Guard;
import org.forelock.search.HeldRequest;
import org.forelock.search.HeldRequests;
import org.forelock.search.Names;
import org.forelock.search.Shard;
import org.opensearch.cluster.node.DiscoveryNode;
import org.opensearch.cluster.service.ClusterService;
import org.opensearch.common.unit.TimeValue;
import org.opensearch.common.util.concurrent.ThreadContext.StoredContext;
import org.opensearch.core.common.io.stream.StreamInput;
import org.opensearch.core.common.io.stream.StreamOutput;
import org.opensearch.core.transport.TransportResponse;
import org.opensearch.threadpool.ThreadPool;
import org.opensearch.transport.TransportException;
import org.opensearch.transport.TransportRequest;
import org.opensearch.transport.TransportRequestOptions;
import org.opensearch.transport.TransportResponseHandler;
import org.opensearch.transport.TransportService;

/** A CertaintyService asks other nodes whether the locks of a write are certain, and answers them. Thread-safe. */
final class CertaintyService implements CertaintySource {
  private static final String ACTION = "internal:plugin/forelock/certainty";
  private static final TimeValue TIMEOUT = TimeValue.timeValueSeconds(5);

  private final TransportService transport;
  private final ClusterService cluster;
  private final ThreadPool threads;

  CertaintyService(TransportService transport, ClusterService cluster, ThreadPool threads, HeldRequests requests) {
    this.transport = transport;
    this.cluster = cluster;
    this.threads = threads;
    transport.registerRequestHandler(ACTION, ThreadPool.Names.SAME, Question::new, (question, channel, task) -> {
      HeldRequest held = requests.get(question.ticket);
      channel.sendResponse(new Answer(held == null ? 0 : held.promise(question.shard, question.attempt)));
    });
  }

  @Override
  public boolean isLocal(Guard guard) {
    return cluster.localNode().getId().equals(guard.node);
  }

  @Override
  public void ask(Guard guard, Shard shard, LongConsumer answer) {
    DiscoveryNode node = cluster.state().nodes().get(guard.node);
    if (node == null) {
      answer.accept(0);
      return;
    }
    try (StoredContext ignored = threads.getThreadContext().stashContext()) {
      transport.sendRequest(node, ACTION, new Question(guard, shard),
          TransportRequestOptions.builder().withTimeout(TIMEOUT).build(), new Handler(answer));
    }
  }

  private static final class Handler implements TransportResponseHandler<Answer> {
    private final LongConsumer answer;

    Handler(LongConsumer answer) {
      this.answer = answer;
    }

    @Override
    public Answer read(StreamInput in) throws IOException {
      return new Answer(in);
    }

    @Override
    public void handleResponse(Answer response) {
      answer.accept(response.nanosLeft);
    }

    @Override
    public void handleException(TransportException problem) {
      answer.accept(0);
    }

    @Override
    public String executor() {
      return ThreadPool.Names.SAME;
    }
  }

  private static final class Question extends TransportRequest {
    private final long ticket;
    private final Shard shard;
    private final int attempt;

    Question(Guard guard, Shard shard) {
      this.ticket = guard.ticket;
      this.shard = shard;
      this.attempt = guard.attempt;
    }

    Question(StreamInput in) throws IOException {
      super(in);
      ticket = in.readLong();
      shard = Shards.read(in);
      attempt = in.readVInt();
      Additions.passOver(in);
    }

    @Override
    public void writeTo(StreamOutput out) throws IOException {
      super.writeTo(out);
      out.writeLong(ticket);
      Shards.write(shard, out);
      out.writeVInt(attempt);
      Additions.write(out);
    }
  }

  private static final class Answer extends TransportResponse {
    private final long nanosLeft;

    Answer(long nanosLeft) {
      this.nanosLeft = nanosLeft;
    }

    Answer(StreamInput in) throws IOException {
      super(in);
      nanosLeft = in.readLong();
      Additions.passOver(in);
    }

    @Override
    public void writeTo(StreamOutput out) throws IOException {
      out.writeLong(nanosLeft);
      Additions.write(out);
    }
  }
}
