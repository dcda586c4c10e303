package org.forelock;

/** The two classes of work: a waiting foreground lock always goes before a waiting background one. */
public enum LockType {
  /** A person waits for it. */
  FOREGROUND,
  /** Bulk work. */
  BACKGROUND;

  /** As messages have it. */
  String text() {
    return this == BACKGROUND ? "background" : "foreground";
  }

  static LockType of(long priority) {
    return priority == 1 ? BACKGROUND : FOREGROUND;
  }
}
