package org.forelock.elasticsearch;

import org.elasticsearch.ElasticsearchStatusException;
import org.elasticsearch.rest.RestStatus;
import org.forelock.search.Refusal;

/** Refusals as Elasticsearch's own exceptions, which reach clients and other nodes. */
final class Answers {
  static final String CODE = "es.forelock_code";

  private Answers() {}

  static ElasticsearchStatusException of(Refusal refusal) {
    ElasticsearchStatusException answer =
        new ElasticsearchStatusException("{}", RestStatus.fromCode(refusal.status), refusal.getMessage());
    answer.addMetadata(CODE, refusal.code);
    if (!refusal.monitor.isEmpty()) {
      answer.addMetadata("es.forelock_monitor", refusal.monitor);
    }
    if (!refusal.letter.isEmpty()) {
      answer.addMetadata("es.forelock_dead_letter", refusal.letter);
    }
    return answer;
  }

  /** The same; what is no refusal is left as it is. */
  static Exception of(Exception problem) {
    return problem instanceof Refusal ? of((Refusal) problem) : problem;
  }
}
