package org.forelock.search;

/** A Certainty states whether the locks of a write are certain to be held now. Thread-safe, never blocks. */
public interface Certainty {
  /** The key under which a primary finds it in its thread context. */
  String KEY = "_forelock_certainty";

  boolean certain();

  /** The token of the locks; 0: the write continues without a lock. */
  long token();

  /** The token of one document. */
  default long token(String id) {
    return token();
  }

  /** The identity of the ZooKeeper namespace in which they are; empty: it is not known. */
  default String namespace() {
    return "";
  }

  /** Whether an earlier attempt at the write may have been done. */
  default boolean again() {
    return false;
  }
}
