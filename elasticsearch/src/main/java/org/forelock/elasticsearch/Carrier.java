package org.forelock.elasticsearch;

import java.util.Collection;
import java.util.List;
import org.elasticsearch.common.util.concurrent.ThreadContext;
import org.elasticsearch.common.util.concurrent.ThreadContext.StoredContext;
import org.forelock.search.Words;

/**
 * A Carrier passes the plugin's values on with a request, as headers of the thread context, which reach other nodes.
 * Thread-safe.
 */
final class Carrier {
  private Carrier() {}

  /** The headers of a context. */
  static Words words(ThreadContext context) {
    return new Words() {
      @Override
      public String header(String name) {
        return context.getHeader(name);
      }

      @Override
      public String handedOn(String name) {
        return get(context, name);
      }
    };
  }

  /** @return null: it was not handed on */
  static String get(ThreadContext context, String name) {
    return context.getHeader(name);
  }

  /** Passes a value on, instead of an earlier one of that name, until the result is closed. */
  static StoredContext with(ThreadContext context, String name, String value) {
    StoredContext former = without(context, List.of(name));
    context.putHeader(name, value);
    return former;
  }

  /** Passes no values with these names on, until the result is closed. */
  static StoredContext without(ThreadContext context, Collection<String> names) {
    return context.newStoredContextPreservingResponseHeaders(List.of(), names);
  }

  /** Continues with values from another node, without this node's values of a name, until the result is closed. */
  static StoredContext receiving(ThreadContext context, String name) {
    return context.newStoredContextPreservingResponseHeaders(List.of(name), List.of());
  }
}
