package org.forelock.opensearch;

import org.forelock.search.Headers;
import org.forelock.search.Refusal;
import org.opensearch.OpenSearchStatusException;
import org.opensearch.common.util.concurrent.ThreadContext;
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

  /** Adds the time of a retry to the answer of this context, if the problem may pass. */
  static void tryAgainLater(ThreadContext context, Exception problem, long seconds) {
    if (problem instanceof Refusal && ((Refusal) problem).tryAgain()) {
      context.addResponseHeader(Headers.RETRY_AFTER, Long.toString(seconds));
    }
  }

  /** The same; other exceptions are returned unchanged. */
  static Exception of(Exception problem) {
    return problem instanceof Refusal ? of((Refusal) problem) : problem;
  }
}
