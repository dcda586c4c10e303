package org.forelock.search;

/** Answers which tasks descend from which. Thread-safe. */
public interface Ancestors {
  /**
   * Whether a held request belongs to a task, or to one of its descendants.
   *
   * @param task the request's own, as the search engine has it
   */
  boolean descends(Object task, TaskName ancestor);
}
