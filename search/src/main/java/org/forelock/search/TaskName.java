package org.forelock.search;

/**
 * A task of the cluster. Immutable.
 *
 * @param node the id of the node that runs it
 * @param number on that node
 */
public record TaskName(String node, long number) {
  /**
   * Reads {@code node:number}.
   *
   * @throws IllegalArgumentException if it is none
   */
  public static TaskName parse(String text) {
    int colon = text.lastIndexOf(':');
    try {
      if (colon > 0) {
        return new TaskName(text.substring(0, colon), Long.parseLong(text.substring(colon + 1)));
      }
    } catch (NumberFormatException noNumber) {
      // as below
    }
    throw new IllegalArgumentException("task: '" + text + "' is invalid; write node:number");
  }
}
