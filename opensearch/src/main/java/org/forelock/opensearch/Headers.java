package org.forelock.opensearch;

import java.util.Locale;
import org.forelock.LockType;
import org.opensearch.common.util.concurrent.ThreadContext;
import org.opensearch.rest.RestRequest;
import org.opensearch.tasks.Task;

/** The names of headers, and what they say. */
final class Headers {
  /** Of a client: foreground or background. */
  static final String PRIORITY = "X-Forelock-Priority";
  /** Of a client: true asks for the two headers of the response. */
  static final String REPORT = "X-Forelock-Report";
  /** Of a client: true lets items of a background bulk that do not get their lock become dead letters. */
  static final String QUEUE = "X-Forelock-Queue";
  /** The same as a parameter of a bulk. */
  static final String QUEUE_PARAMETER = "forelock_queue";
  /** Of a client: true refuses what would be written without a lock. */
  static final String REQUIRED = "X-Forelock-Required";
  /** Of a client: the locks that it holds itself, under which it is written. */
  static final String HELD = "X-Forelock-Held";
  static final String WAIT_MS = "X-Forelock-Wait-Ms";
  static final String TOKEN = "X-Forelock-Token";
  static final String RETRY_AFTER = "Retry-After";

  // Of the plugin itself, see Carrier. No client can send them: they are not among the REST headers.
  /** Everything that descends from this request is background work. */
  static final String BACKGROUND = "_forelock_background";
  /** Its value for what ends at the first item that is not written. */
  static final String BACKGROUND_JOB = "job";
  /** What becomes of this request is not queued, whatever the client says. */
  static final String NO_QUEUE = "_forelock_no_queue";
  /** The node that has begun it does so on its own account: it is not guarded, whatever node goes on with it. */
  static final String OF_NODE = "_forelock_of_node";
  /** The locks of a shard group, for the primary. */
  static final String GUARD = "_forelock_guard";
  /** The lock of an update, for the bulk that it becomes. */
  static final String UPDATE_GUARD = "_forelock_update_guard";

  private Headers() {}

  /**
   * The class of what is sent now.
   *
   * @throws IllegalArgumentException if the client's header is invalid
   */
  static LockType priority(ThreadContext context) {
    String text = said(context, PRIORITY);
    if (text == null) {
      return Carrier.get(context, BACKGROUND) != null ? LockType.BACKGROUND : LockType.FOREGROUND;
    }
    switch (text.toLowerCase(Locale.ROOT)) {
      case "foreground":
        return LockType.FOREGROUND;
      case "background":
        return LockType.BACKGROUND;
      default:
        throw new IllegalArgumentException(PRIORITY + ": '" + text + "' is invalid; write foreground or background");
    }
  }

  /** Makes the parameter of a bulk what the header says; it is known to the node by that. */
  static void takeQueueParameter(ThreadContext context, RestRequest request) {
    if (request.path().endsWith("/_bulk") && request.hasParam(QUEUE_PARAMETER)) {
      String value = request.param(QUEUE_PARAMETER);
      if (said(context, QUEUE) == null) {
        context.putHeader(QUEUE, value.isEmpty() ? "true" : value);
      }
    }
  }

  /**
   * Whether the client lets items become dead letters.
   *
   * @throws IllegalArgumentException if its header is invalid
   */
  static boolean wantsQueue(ThreadContext context) {
    return isTrue(context, QUEUE, QUEUE + ", " + QUEUE_PARAMETER) && Carrier.get(context, NO_QUEUE) == null;
  }

  /**
   * Whether the client would rather be refused than have written without a lock.
   *
   * @throws IllegalArgumentException if its header is invalid
   */
  static boolean requiresLock(ThreadContext context) {
    return isTrue(context, REQUIRED, REQUIRED) | held(context) != null;
  }

  /**
   * The locks of which the client says that it holds them.
   *
   * @return null: of none
   * @throws IllegalArgumentException if its header is invalid
   */
  static HeldTokens held(ThreadContext context) {
    String text = said(context, HELD);
    return text == null ? null : HeldTokens.parse(text);
  }

  /**
   * Whether the client asks for the headers of the response.
   *
   * @throws IllegalArgumentException if its header is invalid
   */
  static boolean wantsReport(ThreadContext context) {
    return isTrue(context, REPORT, REPORT);
  }

  /**
   * What the client says by a header, or as {@code name=value} in its X-Opaque-Id, whose parts are separated by
   * semicolons: OpenSearch Security lets no other header of a client pass.
   *
   * @return null: nothing
   */
  private static String said(ThreadContext context, String header) {
    String value = context.getHeader(header);
    String identity = value == null ? context.getHeader(Task.X_OPAQUE_ID) : null;
    if (identity != null && identity.indexOf('=') > 0) {
      for (String part : identity.split(";")) {
        String[] sides = part.strip().split("=", 2);
        if (sides.length == 2 && sides[0].equalsIgnoreCase(header)) {
          return sides[1];
        }
      }
    }
    return value;
  }

  /** @param names what the client may have written it as */
  private static boolean isTrue(ThreadContext context, String header, String names) {
    String text = said(context, header);
    if (text != null && !text.equals("true") && !text.equals("false")) {
      throw new IllegalArgumentException(names + ": '" + text + "' is invalid; write true or false");
    }
    return "true".equals(text);
  }
}
