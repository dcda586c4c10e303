package org.forelock.elasticsearch;

import java.util.Collection;
import java.util.List;
import org.elasticsearch.common.util.concurrent.ThreadContext;
import org.elasticsearch.common.util.concurrent.ThreadContext.StoredContext;
import org.forelock.search.Words;

/**
 * A Carrier takes what the plugin hands on with a request to where it is needed, as headers of the thread context,
 * which reach other nodes. Thread-safe.
 */
final class Carrier {
  private Carrier() {}

  /** What is said with what is done in a context. */
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

  /** Hands on a value, instead of an earlier one of that name, until what is returned is closed. */
  static StoredContext with(ThreadContext context, String name, String value) {
    StoredContext former = without(context, List.of(name));
    context.putHeader(name, value);
    return former;
  }

  /** Does not hand on what has these names, until what is returned is closed. */
  static StoredContext without(ThreadContext context, Collection<String> names) {
    return context.newStoredContextPreservingResponseHeaders(List.of(), names);
  }

  /** Goes on with what came from another node, without what this one knows by a name, until that is closed. */
  static StoredContext receiving(ThreadContext context, String name) {
    return context.newStoredContextPreservingResponseHeaders(List.of(name), List.of());
  }
}
