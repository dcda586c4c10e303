package org.forelock.opensearch;

import org.opensearch.action.bulk.BulkRequest;
import org.opensearch.action.bulk.BulkResponse;
import org.opensearch.core.action.ActionListener;

/** A BulkWriter is the node's own client, as far as it writes. */
interface BulkWriter {
  void bulk(BulkRequest request, ActionListener<BulkResponse> listener);
}
