package org.forelock.opensearch;

import java.util.Locale;
import org.forelock.LockType;
import org.opensearch.common.util.concurrent.ThreadContext;

/** The names of headers, and what they say. */
final class Headers {
  /** Of a client: foreground or background. */
  static final String PRIORITY = "X-Forelock-Priority";
  /** Of a client: true asks for the two headers of the response. */
  static final String REPORT = "X-Forelock-Report";
  static final String WAIT_MS = "X-Forelock-Wait-Ms";
  static final String TOKEN = "X-Forelock-Token";
  static final String RETRY_AFTER = "Retry-After";

  // Of the plugin itself, between nodes. No client can send them: they are not among the REST headers.
  /** Everything that descends from this request is background work. */
  static final String BACKGROUND = "_forelock_background";
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
    String text = context.getHeader(PRIORITY);
    if (text == null) {
      return context.getHeader(BACKGROUND) != null ? LockType.BACKGROUND : LockType.FOREGROUND;
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

  static boolean wantsReport(ThreadContext context) {
    return "true".equals(context.getHeader(REPORT));
  }
}
