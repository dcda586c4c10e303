package org.forelock.search;

/**
 * A Fence maps fencing tokens of one ZooKeeper namespace to document versions above those that an index has from
 * another namespace, by adding a number. Tokens of all other namespaces stay unchanged, so that their holders are
 * refused. Immutable.
 *
 * @param namespace the identity of that namespace; empty: of none
 * @param base what is added
 */
public record Fence(String namespace, long base) {
  /** Of an index whose versions have come from the tokens of one namespace alone. */
  public static final Fence NONE = new Fence("", 0);

  /** Beyond it there would soon be no room for tokens. */
  private static final long HIGHEST_BASE = Long.MAX_VALUE / 2;

  /**
   * Reads its text.
   *
   * @throws IllegalArgumentException if it is invalid
   */
  public static Fence parse(String text) {
    if (text.isEmpty()) {
      return NONE;
    }
    String[] parts = text.split(" ", -1);
    if (parts.length != 2 || parts[0].isEmpty() || !parts[1].matches("[0-9]{1,19}")) {
      throw new IllegalArgumentException("index.forelock.fence: '" + text
          + "' is invalid; it is written by POST _plugins/_forelock/_refence alone");
    }
    return new Fence(parts[0], Long.parseLong(parts[1]));
  }

  public String text() {
    return namespace.isEmpty() ? "" : namespace + " " + base;
  }

  /** The version of a document that is written under a token. @param of the namespace of the token */
  public long version(String of, long token) {
    return token + baseOf(of);
  }

  private long baseOf(String of) {
    return !namespace.isEmpty() && namespace.equals(of) ? base : 0;
  }

  /**
   * The fence under which writes continue. It never lowers a version.
   *
   * @param of the present namespace
   * @param token of a lock that is held in it now: all later ones are higher
   * @param highest the highest version that the index has
   * @return this one, if it does already
   * @throws Refusal if there is no room above that version
   */
  public Fence above(String of, long token, long highest) {
    if (version(of, token) > highest) {
      return this;
    }
    if (highest > HIGHEST_BASE) {
      throw Refusals.of(Refusals.CONFLICT, "no_room", "", "a document has the version " + highest
          + ", which is no fencing token and leaves no room above it; delete that document and what the index keeps of "
          + "it (index.gc_deletes), or reindex into a new index");
    }
    return new Fence(of, highest);
  }
}
