package org.forelock.opensearch;

import org.forelock.search.PartReports;
import org.opensearch.common.util.concurrent.ThreadContext;

/** The reports of all parts of a bulk, in the thread context. */
final class BulkReports {
  private BulkReports() {}

  /** Begins a bulk: work in this context, and in contexts derived from it on this node, is part of it. */
  static PartReports begin(ThreadContext context) {
    PartReports reports = new PartReports();
    context.putTransient(PartReports.KEY, reports);
    return reports;
  }

  /** @return those of the bulk to which this context belongs; null: it belongs to none */
  static PartReports of(ThreadContext context) {
    return context.getTransient(PartReports.KEY);
  }
}
