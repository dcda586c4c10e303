package org.forelock.elasticsearch;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.elasticsearch.common.util.concurrent.ThreadContext.StoredContext;
import org.elasticsearch.common.util.concurrent.ThreadContext;
import org.forelock.search.Words;

/**
 * A Carrier passes the plugin's values on with a request, as headers of the thread context, which reach other nodes.
 * This version can add headers to a context but not remove them: so the name of each later value has a higher number,
 * and an empty one stands for none. Thread-safe.
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

  private static String numbered(String name, int number) {
    return name + "." + number;
  }

  private static int count(ThreadContext context, String name) {
    int number = 0;
    while (context.getHeader(numbered(name, number)) != null) {
      ++number;
    }
    return number;
  }

  /** @return null: it was not handed on */
  static String get(ThreadContext context, String name) {
    int count = count(context, name);
    String value = count == 0 ? null : context.getHeader(numbered(name, count - 1));
    return value == null || value.isEmpty() ? null : value;
  }

  /** Passes a value on, instead of an earlier one of that name, until the result is closed. */
  static StoredContext with(ThreadContext context, String name, String value) {
    StoredContext former = context.newStoredContext(true);
    context.putHeader(numbered(name, count(context, name)), value);
    return former;
  }

  /** Passes no values with these names on, until the result is closed. */
  static StoredContext without(ThreadContext context, Collection<String> names) {
    List<String> given = new ArrayList<>();
    for (String name : names) {
      if (get(context, name) != null) {
        given.add(name);
      }
    }
    StoredContext former = context.newStoredContext(true);
    given.forEach(name -> context.putHeader(numbered(name, count(context, name)), ""));
    return former;
  }

  /** Continues with values from another node, without this node's values of a name, until the result is closed. */
  static StoredContext receiving(ThreadContext context, String name) {
    return context.newStoredContext(true, List.of(name));
  }
}
