package org.forelock.opensearch;

import org.opensearch.action.index.IndexRequest;
import org.opensearch.ingest.IngestService;

/** The kinds of ingest pipelines, which differ between OpenSearch 2 and 3. */
final class Pipelines {
  private Pipelines() {}

  /** Says of a document that its pipelines have been executed. */
  static IndexRequest executed(IndexRequest document) {
    return document.setPipeline(IngestService.NOOP_PIPELINE_NAME).setFinalPipeline(IngestService.NOOP_PIPELINE_NAME)
        .setSystemIngestPipeline(IngestService.NOOP_PIPELINE_NAME)
        .isPipelineResolved(true);
  }
}
