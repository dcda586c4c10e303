package org.forelock.search;

/**
 * A Guard identifies the locks under which a write is done: their node, their ticket and their token. It travels with
 * the write. Immutable.
 *
 * <p>A node may have another version of the plugin than the sending one. Parts added by a later version are ignored and
 * passed on; where they must not be ignored, the number at the beginning is raised, and a node with an older version
 * refuses the write.
 */
public final class Guard {
  /** The version that a reader must know. */
  private static final int FORM = 1;
  private static final String NOWHERE = "-";
  /** The parts that this version adds: none. Without a space. */
  private static final String ADDED = "-";

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
  /** Whether an earlier attempt may have been done: then a refusal does not mean that nothing was written. */
  public final boolean again;
  private final String added;

  public Guard(String node, long ticket, long token, String monitor) {
    this(node, ticket, token, DocumentTokens.NONE, "", monitor);
  }

  public Guard(
      String node, long ticket, long token, DocumentTokens tokens, String namespace, String monitor) {
    this(node, ticket, token, tokens, namespace, monitor, 0, false, ADDED);
  }

  private Guard(String node, long ticket, long token, DocumentTokens tokens, String namespace, String monitor,
      int attempt, boolean again, String added) {
    this.namespace = namespace;
    this.node = node;
    this.ticket = ticket;
    this.token = token;
    this.tokens = tokens;
    this.monitor = monitor;
    this.attempt = attempt;
    this.again = again;
    this.added = added;
  }

  public Guard withAttempt(int number) {
    return new Guard(node, ticket, token, tokens, namespace, monitor, number, again, added);
  }

  public Guard sentAgain() {
    return new Guard(node, ticket, token, tokens, namespace, monitor, attempt, true, added);
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
    return FORM + " " + node + " " + ticket + " " + token + " " + attempt + " " + again + " " + tokens.text() + " "
        + namespace + " " + added + " " + monitor;
  }

  /** @throws IllegalArgumentException if another version has made it, which this one cannot go on with */
  public static Guard parse(String text) {
    int space = text.indexOf(' ');
    if (!text.substring(0, Math.max(0, space)).equals(String.valueOf(FORM))) {
      throw new IllegalArgumentException("the node that has the lock of this write and this node have versions of "
          + "Forelock's plugin that do not go together; nothing was written here. Send it through another node, or "
          + "again when all have the same version");
    }
    String[] parts = text.substring(space + 1).split(" ", 9);
    return new Guard(parts[0], Long.parseLong(parts[1]), Long.parseLong(parts[2]), DocumentTokens.parse(parts[5]),
        parts[6], parts[8], Integer.parseInt(parts[3]), Boolean.parseBoolean(parts[4]), parts[7]);
  }
}
