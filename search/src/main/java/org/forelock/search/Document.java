package org.forelock.search;

/** The write of one document, as needed to find its monitor. */
public interface Document {
  /** Its id; null or empty: none. */
  String id();

  /** What is done: index, create, update or delete. */
  String operation();

  /** The value of a field in what is sent, by its path; null: there is no such value. */
  Object field(String path);
}
