package org.forelock.opensearch;

import org.forelock.search.WritePlan;

/**
 * A Decision about a write: it passes; it passes with an added value for its descendants (name null: none, but a place
 * for its parts to report); or it is held by a plan. Immutable.
 */
record Decision(What what, String name, String value, WritePlan plan) {
  /** Of the three. */
  enum What { PASS, MARK, HOLD }

  static final Decision PASS = new Decision(What.PASS, null, null, null);

  static Decision mark(String name, String value) {
    return new Decision(What.MARK, name, value, null);
  }

  static Decision hold(WritePlan plan) {
    return new Decision(What.HOLD, null, null, plan);
  }
}
