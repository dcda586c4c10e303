package org.forelock.search;

import java.util.regex.Pattern;

/** The threads of a node, by the names that search engines give them. */
final class NodeThreads {
  /** As in {@code opensearch[node1][write][T#2]}: few, and all requests need them. */
  private static final Pattern SERVING = Pattern.compile(".*\\[(transport_worker|http_server_worker|(system_)?write"
      + "|(clusterApplier|master|clusterManager)Service#updateTask)\\](\\[T#\\d+\\])?");

  private NodeThreads() {}

  /** Whether it must not wait for a lock, since others would wait for the thread. */
  static boolean serves(Thread thread) {
    return SERVING.matcher(thread.getName()).matches();
  }
}
