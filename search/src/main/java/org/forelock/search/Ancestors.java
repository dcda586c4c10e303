package org.forelock.search;

/** Knows which task descends from which. Thread-safe. */
public interface Ancestors {
  /**
   * Whether a held request belongs to a task, or to what that has begun.
   *
   * @param task the request's own, as the search engine has it
   */
  boolean descends(Object task, TaskName ancestor);
}
