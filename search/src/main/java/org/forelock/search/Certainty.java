package org.forelock.search;

/** A Certainty tells whether the locks of a write are certain to be held now. Thread-safe, never blocks. */
public interface Certainty {
  /** The key under which a primary finds it in its thread context. */
  String KEY = "_forelock_certainty";

  boolean certain();

  /** 0: the write goes on without a lock. */
  long token();

  /** That of one document. */
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
