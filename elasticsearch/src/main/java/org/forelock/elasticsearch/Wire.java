package org.forelock.elasticsearch;

import java.io.IOException;
import java.util.concurrent.Executor;
import org.elasticsearch.action.ActionType;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.util.concurrent.EsExecutors;
import org.elasticsearch.common.util.concurrent.ThreadContext;
import org.elasticsearch.common.util.concurrent.ThreadContext.StoredContext;
import org.elasticsearch.core.TimeValue;
import org.elasticsearch.threadpool.ThreadPool;
import org.elasticsearch.transport.TransportChannel;
import org.elasticsearch.transport.TransportRequestOptions;
import org.elasticsearch.transport.TransportResponseHandler;

/** What messages need of Elasticsearch in another way than of OpenSearch, for the sources that both plugins share. */
final class Wire {
  /** At once, on a thread that must not be kept. */
  static final Executor AT_ONCE = EsExecutors.DIRECT_EXECUTOR_SERVICE;

  private Wire() {}

  /** On a thread that may block. */
  static Executor blocking(ThreadPool threads) {
    return threads.generic();
  }

  static ActionType<Reply> action(String name) {
    return new ActionType<>(name);
  }

  /** What is done until it is closed is on the node's own account. */
  static StoredContext own(ThreadContext context) {
    return context.newEmptySystemContext();
  }

  /** @param timeout null: none */
  static TransportRequestOptions within(TimeValue timeout) {
    return TransportRequestOptions.timeout(timeout);
  }

  static void answer(TransportChannel channel, Reply reply) {
    channel.sendResponse(reply);
  }

  /** Takes a reply. */
  abstract static class Handler implements TransportResponseHandler<Reply> {
    @Override
    public Reply read(StreamInput in) throws IOException {
      return new Reply(in);
    }

    @Override
    public Executor executor() {
      return AT_ONCE;
    }
  }
}
