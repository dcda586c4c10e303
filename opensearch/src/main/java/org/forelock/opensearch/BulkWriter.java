package org.forelock.opensearch;

import org.opensearch.action.bulk.BulkShardRequest;
import org.opensearch.action.bulk.BulkShardResponse;
import org.opensearch.core.action.ActionListener;

/**
 * A BulkWriter does a shard's part of a bulk as the node does it for a client: in the index of that shard, or, where
 * that is not there any more, not at all.
 */
interface BulkWriter {
  void write(BulkShardRequest request, ActionListener<BulkShardResponse> listener);
}
