package org.forelock.opensearch;

/**
 * A Guard names the locks under which a write is done: on which node they are held, under which ticket, with which
 * token. It travels with the write as a header. Immutable.
 */
final class Guard {
  /** The write goes on without a lock, because the setting permits it. */
  static final Guard ALLOWED = new Guard("-", 0, 0, "");

  final String node;
  final long ticket;
  /** No lower than those of all its locks, lower than that of every later grant of one of them. */
  final long token;
  /** The one monitor of an update; empty otherwise. */
  final String monitor;

  Guard(String node, long ticket, long token, String monitor) {
    this.node = node;
    this.ticket = ticket;
    this.token = token;
    this.monitor = monitor;
  }

  boolean allowed() {
    return node.equals(ALLOWED.node);
  }

  String text() {
    return node + " " + ticket + " " + token + " " + monitor;
  }

  static Guard parse(String text) {
    String[] parts = text.split(" ", 4);
    return new Guard(parts[0], Long.parseLong(parts[1]), Long.parseLong(parts[2]), parts[3]);
  }
}
