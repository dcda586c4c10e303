package org.forelock;

/**
 * Holds the program's client, for code to which none is passed. In a search node it is the plugin's client, for the
 * plugins that extend it; elsewhere the program sets it when it starts. Thread-safe.
 */
public final class ZooKeeperUtil {
  private static volatile ForelockClient program;

  private ZooKeeperUtil() {}

  /**
   * Sets the program's client, in place of an earlier one.
   *
   * @param client null: none any more; the code that has opened it closes it
   */
  public static void use(ForelockClient client) {
    program = client;
  }

  /**
   * The program's client.
   *
   * @return the client that was set
   * @throws IllegalStateException if none was set
   */
  public static ForelockClient getZookeeper() {
    ForelockClient client = program;
    if (client == null) {
      throw new IllegalStateException("the program has named no client: call ZooKeeperUtil.use(client) when it starts");
    }
    return client;
  }
}
