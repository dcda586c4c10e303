package org.forelock.search;

/**
 * A Guard names the locks under which a write is done: on which node they are held, under which ticket, with which
 * token. It travels with the write. Immutable.
 */
public final class Guard {
  private static final String NOWHERE = "-";

  public final String node;
  public final long ticket;
  /** No lower than those of all its locks; of one ensemble, lower than that of every later grant of one of them. */
  public final long token;
  /** The one monitor of an update; empty otherwise. */
  public final String monitor;
  /** How often the node of the locks has sent the write to another node; 0: it has not. */
  public final int attempt;
  /** Where not all documents have that token. */
  public final DocumentTokens tokens;
  /** The identity of the ZooKeeper namespace of the tokens; empty: it is not known. */
  public final String namespace;
  /** An earlier attempt may have been done: then a refusal does not say that nothing was written. */
  public final boolean again;

  public Guard(String node, long ticket, long token, String monitor) {
    this(node, ticket, token, DocumentTokens.NONE, "", monitor);
  }

  public Guard(
      String node, long ticket, long token, DocumentTokens tokens, String namespace, String monitor) {
    this(node, ticket, token, tokens, namespace, monitor, 0, false);
  }

  private Guard(String node, long ticket, long token, DocumentTokens tokens, String namespace, String monitor,
      int attempt, boolean again) {
    this.namespace = namespace;
    this.node = node;
    this.ticket = ticket;
    this.token = token;
    this.tokens = tokens;
    this.monitor = monitor;
    this.attempt = attempt;
    this.again = again;
  }

  public Guard withAttempt(int number) {
    return new Guard(node, ticket, token, tokens, namespace, monitor, number, again);
  }

  public Guard sentAgain() {
    return new Guard(node, ticket, token, tokens, namespace, monitor, attempt, true);
  }

  /**
   * The guard of a write that goes on without a lock, because the setting permits it.
   *
   * @param monitor of an update; empty otherwise
   */
  public static Guard allowed(String monitor) {
    return new Guard(NOWHERE, 0, 0, monitor);
  }

  public boolean allowed() {
    return node.equals(NOWHERE);
  }

  public String text() {
    return node + " " + ticket + " " + token + " " + attempt + " " + again + " " + tokens.text() + " " + namespace + " "
        + monitor;
  }

  public static Guard parse(String text) {
    String[] parts = text.split(" ", 8);
    return new Guard(parts[0], Long.parseLong(parts[1]), Long.parseLong(parts[2]), DocumentTokens.parse(parts[5]),
        parts[6], parts[7], Integer.parseInt(parts[3]), Boolean.parseBoolean(parts[4]));
  }
}
