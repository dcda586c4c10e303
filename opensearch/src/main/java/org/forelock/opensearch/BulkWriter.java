package org.forelock.opensearch;

import org.opensearch.action.bulk.BulkShardRequest;
import org.opensearch.action.bulk.BulkShardResponse;
import org.opensearch.core.action.ActionListener;

/**
 * A BulkWriter writes a shard's part of a bulk as the node does it for a client: into the index of that shard, or, if
 * the index no longer exists, not at all.
 */
interface BulkWriter {
  void write(BulkShardRequest request, ActionListener<BulkShardResponse> listener);
}
