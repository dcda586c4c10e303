package org.forelock.opensearch;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.forelock.search.NodeIdentity;
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

/** An IdentityService asks nodes for the ZooKeeper namespace of their locks, and answers them. Thread-safe. */
final class IdentityService implements NodeIdentity.Nodes {
  private static final String ACTION = "internal:plugin/forelock/identity";
  private static final TimeValue TIMEOUT = TimeValue.timeValueSeconds(5);

  private final TransportService transport;
  private final ClusterService cluster;
  private final ThreadPool threads;

  IdentityService(TransportService transport, ClusterService cluster, ThreadPool threads, NodeIdentity own) {
    this.transport = transport;
    this.cluster = cluster;
    this.threads = threads;
    transport.registerRequestHandler(ACTION, ThreadPool.Names.SAME, TransportRequest.Empty::new,
        (question, channel, task) -> channel.sendResponse(new Answer(own.own())));
  }

  @Override
  public void ask(Consumer<List<NodeIdentity.Answer>> then) {
    Collection<DiscoveryNode> nodes = cluster.state().nodes().getNodes().values();
    List<NodeIdentity.Answer> answers = new ArrayList<>();
    AtomicInteger left = new AtomicInteger(nodes.size());
    for (DiscoveryNode node : nodes) {
      Consumer<String> one = identity -> {
        synchronized (answers) {
          answers.add(new NodeIdentity.Answer(node.getEphemeralId(), node.getName(), identity));
        }
        if (left.decrementAndGet() == 0) {
          then.accept(answers);
        }
      };
      try (StoredContext ignored = threads.getThreadContext().stashContext()) {
        transport.sendRequest(node, ACTION, TransportRequest.Empty.INSTANCE,
            TransportRequestOptions.builder().withTimeout(TIMEOUT).build(), new Handler(one));
      }
    }
  }

  private static final class Handler implements TransportResponseHandler<Answer> {
    private final Consumer<String> identity;

    Handler(Consumer<String> identity) {
      this.identity = identity;
    }

    @Override
    public Answer read(StreamInput in) throws IOException {
      return new Answer(in);
    }

    @Override
    public void handleResponse(Answer answer) {
      identity.accept(answer.identity);
    }

    /** The node has left, is stopped, or has an older plugin. */
    @Override
    public void handleException(TransportException problem) {
      identity.accept(null);
    }

    @Override
    public String executor() {
      return ThreadPool.Names.SAME;
    }
  }

  private static final class Answer extends TransportResponse {
    private final String identity;

    Answer(String identity) {
      this.identity = identity;
    }

    Answer(StreamInput in) throws IOException {
      super(in);
      identity = in.readString();
      Additions.passOver(in);
    }

    @Override
    public void writeTo(StreamOutput out) throws IOException {
      out.writeString(identity);
      Additions.write(out);
    }
  }
}
