package org.forelock.opensearch;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.forelock.search.Headers;
import org.forelock.search.Sends;
import org.forelock.search.Words;
import org.opensearch.common.util.concurrent.ThreadContext;
import org.opensearch.common.util.concurrent.ThreadContext.StoredContext;
import org.opensearch.common.util.concurrent.ThreadContextStatePropagator;

/**
 * A Carrier passes the plugin's values on with a request: as transients of the thread context on a node, as headers
 * between nodes. Thread-safe.
 *
 * <p>Plain headers do not suffice: OpenSearch Security begins a new context for every message, even to the same node,
 * and copies only its own headers. Such a context keeps the values that a propagator names.
 */
final class Carrier implements ThreadContextStatePropagator {
  private static final List<String> NAMES =
      List.of(Headers.BACKGROUND, Headers.NO_QUEUE, Headers.OF_NODE, Headers.GUARD, Headers.UPDATE_GUARD,
          Headers.HELD_WITHIN);
  /** Of what a node does on its own account. */
  private static final List<String> NAMES_OF_NODE = List.of(Headers.OF_NODE);

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
    return context.getTransient(name);
  }

  /** Passes a value on, instead of an earlier one of that name, until the result is closed. */
  static StoredContext with(ThreadContext context, String name, String value) {
    StoredContext former = context.newStoredContext(true, List.of(name));
    context.putTransient(name, value);
    return former;
  }

  /** Passes no values with these names on, until the result is closed. */
  static StoredContext without(ThreadContext context, Collection<String> names) {
    return context.newStoredContext(true, names);
  }

  /** Whether something came from another node with what is no write by its name. */
  static boolean isWithin(ThreadContext context) {
    return context.getHeader(Headers.HELD_WITHIN) != null;
  }

  /** Continues with values from another node, without this node's values of a name, until the result is closed. */
  static StoredContext receiving(ThreadContext context, String name) {
    StoredContext former = context.newStoredContext(true, List.of(name));
    receive(context);
    return former;
  }

  /** The same, of all names. */
  static void receive(ThreadContext context) {
    for (String name : NAMES) {
      String value = context.getHeader(name);
      if (value != null && context.getTransient(name) == null) {
        context.putTransient(name, value);
      }
    }
  }

  @Override
  @SuppressWarnings("removal") // there is no other that a propagator must have
  public Map<String, Object> transients(Map<String, Object> source) {
    return new HashMap<>(headers(source));
  }

  private static Map<String, String> carried(Map<String, Object> source, List<String> names) {
    if (source.isEmpty()) {
      return Map.of();
    }
    Map<String, String> carried = new HashMap<>();
    for (String name : names) {
      Object value = source.get(name);
      if (value != null) {
        carried.put(name, (String) value);
      }
    }
    return carried;
  }

  @Override
  @SuppressWarnings("removal")
  public Map<String, String> headers(Map<String, Object> source) {
    return carried(source, NAMES);
  }

  /** Work that the node does on its own account is no part of a request. */
  @Override
  public Map<String, Object> transients(Map<String, Object> source, boolean isSystemContext) {
    Map<String, Object> carried = new HashMap<>(headers(source, isSystemContext));
    Object sends = source.get(Sends.KEY); // counts on, on this node
    if (!isSystemContext && sends != null) {
      carried.put(Sends.KEY, sends);
    }
    return carried;
  }

  @Override
  public Map<String, String> headers(Map<String, Object> source, boolean isSystemContext) {
    return carried(source, isSystemContext ? NAMES_OF_NODE : NAMES);
  }
}
