package org.forelock;

/**
 * The program's client, for code to which none is passed. In a search node it is that of the plugin, for the other
 * plugins that extend it; elsewhere the program names it when it starts. Thread-safe.
 */
public final class ZooKeeperUtil {
  private static volatile ForelockClient program;

  private ZooKeeperUtil() {}

  /**
   * Names the program's client. A later one takes the place of the first.
   *
   * @param client null: there is none any more. Who has opened it closes it
   */
  public static void use(ForelockClient client) {
    program = client;
  }

  /**
   * The program's client.
   *
   * @return that one
   * @throws IllegalStateException if none has been named
   */
  public static ForelockClient getZookeeper() {
    ForelockClient client = program;
    if (client == null) {
      throw new IllegalStateException("the program has named no client: call ZooKeeperUtil.use(client) when it starts");
    }
    return client;
  }
}
