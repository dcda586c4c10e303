package org.forelock.opensearch;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.opensearch.common.util.concurrent.ThreadContext;
import org.opensearch.core.action.ActionListener;
import org.opensearch.http.HttpChannel;
import org.opensearch.rest.RestRequest;

/** The clients' connections to this node, and the tasks for their closing. Thread-safe. */
final class Disconnections {
  static final String KEY = "_forelock_client";
  private static final Runnable NOTHING = () -> {};

  /** One listener for each connection, however many requests it carries. */
  private final Map<HttpChannel, Set<Runnable>> watched = new ConcurrentHashMap<>();

  /** Remembers the connection for what is done in this context. */
  static void note(ThreadContext context, RestRequest request) {
    if (context.getTransient(KEY) == null && request.getHttpChannel() != null) {
      context.putTransient(KEY, request.getHttpChannel());
    }
  }

  /**
   * Runs the task when the connection of this context closes, if one was remembered.
   *
   * @return ends that
   */
  Runnable watch(ThreadContext context, Runnable task) {
    HttpChannel client = context.getTransient(KEY);
    if (client == null) {
      return NOTHING;
    }
    boolean[] first = {false};
    Set<Runnable> tasks = watched.compute(client, (channel, known) -> {
      first[0] = known == null;
      Set<Runnable> all = known == null ? ConcurrentHashMap.newKeySet() : known;
      all.add(task); // in here, so that the connection's end finds it there, or a new set with a listener of its own
      return all;
    });
    if (first[0]) {
      client.addCloseListener(ActionListener.wrap(() -> closed(client)));
    }
    return () -> tasks.remove(task);
  }

  private void closed(HttpChannel client) {
    Set<Runnable> tasks = watched.remove(client);
    if (tasks != null) {
      tasks.forEach(Runnable::run);
    }
  }
}
