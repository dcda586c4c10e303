package org.forelock.opensearch;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.opensearch.action.ActionType;
import org.opensearch.common.unit.TimeValue;
import org.opensearch.common.util.concurrent.ThreadContext;
import org.opensearch.common.util.concurrent.ThreadContext.StoredContext;
import org.opensearch.core.common.io.stream.StreamInput;
import org.opensearch.threadpool.ThreadPool;
import org.opensearch.transport.TransportChannel;
import org.opensearch.transport.TransportRequestOptions;
import org.opensearch.transport.TransportResponseHandler;

/** What messages need of OpenSearch in another way than of Elasticsearch, for the sources that both plugins share. */
final class Wire {
  /** At once, on a thread that must not be kept. */
  static final String AT_ONCE = ThreadPool.Names.SAME;

  private Wire() {}

  /** On a thread that may block. */
  static String blocking(ThreadPool threads) {
    return ThreadPool.Names.GENERIC;
  }

  static ActionType<Reply> action(String name) {
    return new ActionType<>(name, Reply::new);
  }

  /** What is done until it is closed is on the node's own account. */
  static StoredContext own(ThreadContext context) {
    return context.stashContext();
  }

  /** @param timeout null: none */
  static TransportRequestOptions within(TimeValue timeout) {
    return timeout == null ? TransportRequestOptions.EMPTY
        : TransportRequestOptions.builder().withTimeout(timeout).build();
  }

  static void answer(TransportChannel channel, Reply reply) {
    try {
      channel.sendResponse(reply);
    } catch (IOException gone) {
      throw new UncheckedIOException(gone);
    }
  }

  /** Takes a reply. */
  abstract static class Handler implements TransportResponseHandler<Reply> {
    @Override
    public Reply read(StreamInput in) throws IOException {
      return new Reply(in);
    }

    @Override
    public String executor() {
      return AT_ONCE;
    }
  }
}
