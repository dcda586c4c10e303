package org.forelock.opensearch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.forelock.ErrorCode;
import org.forelock.ForelockException;
import org.forelock.TestFailures;
import org.forelock.search.Refusals;
import org.junit.jupiter.api.Test;
import org.opensearch.OpenSearchStatusException;
import org.opensearch.common.xcontent.XContentHelper;
import org.opensearch.common.xcontent.XContentType;
import org.opensearch.core.common.bytes.BytesArray;
import org.opensearch.core.rest.RestStatus;
import org.opensearch.core.xcontent.MediaType;

class AnswersTest {
  /** How an acquisition can end that is not granted. */
  private static final Set<ErrorCode> ENDS = EnumSet.of(ErrorCode.LOCK_TIMEOUT, ErrorCode.LOCK_UNAVAILABLE,
      ErrorCode.CANCELLED, ErrorCode.SESSION_EXPIRED, ErrorCode.CONNECTION_LOSS, ErrorCode.LOCK_UNHEALTHY,
      ErrorCode.NOT_AUTHORIZED, ErrorCode.QUOTA_EXCEEDED, ErrorCode.INVALID_ARGUMENT, ErrorCode.REQUEST_TOO_LARGE,
      ErrorCode.CLOSED, ErrorCode.SERVER_ERROR, ErrorCode.INTERNAL, ErrorCode.OVERLOADED, ErrorCode.OUT_OF_MEMORY);

  private static final Set<RestStatus> TRIED_AGAIN_BY_CLIENTS = EnumSet.of(RestStatus.TOO_MANY_REQUESTS,
      RestStatus.BAD_GATEWAY, RestStatus.SERVICE_UNAVAILABLE, RestStatus.GATEWAY_TIMEOUT);

  private static String codeOf(OpenSearchStatusException answer) {
    return answer.getMetadata(Answers.CODE).get(0);
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> in(Object map, String key) {
    return (Map<String, Object>) ((Map<String, Object>) map).get(key);
  }

  /** Each status with a code, as "503 connection_loss". */
  private static Set<String> documented() throws IOException {
    byte[] text = Files.readAllBytes(Path.of("..", "docs", "opensearch.schema.json"));
    MediaType json = XContentType.JSON;
    Map<String, Object> all = XContentHelper.convertToMap(new BytesArray(text), true, json).v2();
    Set<String> found = new HashSet<>();
    for (Object one : (List<?>) in(in(all, "$defs"), "refused_write").get("oneOf")) {
      Map<String, Object> properties = in(one, "properties");
      Map<String, Object> code = in(in(in(properties, "error"), "properties"), "forelock_code");
      List<?> codes = code.containsKey("enum") ? (List<?>) code.get("enum") : List.of(code.get("const"));
      codes.forEach(value -> found.add(in(properties, "status").get("const") + " " + value));
    }
    return found;
  }

  @Test
  void whateverEndsAnAcquisitionIsDocumented() throws IOException {
    Set<String> documented = documented();
    for (ErrorCode code : ENDS) {
      OpenSearchStatusException answer = Answers.of(Refusals.notObtained(TestFailures.of(code, "m")));
      String told = answer.status().getStatus() + " " + codeOf(answer);
      assertTrue(documented.contains(told), told);
    }
  }

  @Test
  void clientsDoNotTryAgainWhatNeedsSomebodyToLookAtIt() {
    for (ErrorCode code : ENDS) {
      ForelockException reason = TestFailures.of(code, "m");
      boolean again = TRIED_AGAIN_BY_CLIENTS.contains(Answers.of(Refusals.notObtained(reason)).status());
      assertTrue(!again || reason.retryable() || code == ErrorCode.CLOSED, code.toString());
    }
    assertEquals(RestStatus.INTERNAL_SERVER_ERROR,
        Answers.of(Refusals.notObtained(TestFailures.of(ErrorCode.NOT_AUTHORIZED, "m"))).status());
  }
}
