package org.forelock.opensearch;

import org.forelock.search.Refusal;
import org.opensearch.OpenSearchStatusException;
import org.opensearch.core.rest.RestStatus;

/** Refusals as OpenSearch's own exceptions, which reach clients and other nodes. */
final class Answers {
  static final String CODE = SearchEngine.PREFIX + "forelock_code";

  private Answers() {}

  static OpenSearchStatusException of(Refusal refusal) {
    OpenSearchStatusException answer =
        new OpenSearchStatusException("{}", RestStatus.fromCode(refusal.status), refusal.getMessage());
    answer.addMetadata(CODE, refusal.code);
    if (!refusal.monitor.isEmpty()) {
      answer.addMetadata(SearchEngine.PREFIX + "forelock_monitor", refusal.monitor);
    }
    if (!refusal.letter.isEmpty()) {
      answer.addMetadata(SearchEngine.PREFIX + "forelock_dead_letter", refusal.letter);
    }
    return answer;
  }

  /** The same; what is no refusal is left as it is. */
  static Exception of(Exception problem) {
    return problem instanceof Refusal ? of((Refusal) problem) : problem;
  }
}
