package org.forelock.search;

import java.util.Locale;
import org.forelock.LockType;

/** The names of headers, and readers of their values. */
public final class Headers {
  /** Of a client: foreground or background. */
  public static final String PRIORITY = "X-Forelock-Priority";
  /** Of a client: true asks for the two headers of the response. */
  public static final String REPORT = "X-Forelock-Report";
  /** Of a client: true lets items of a background bulk that do not get their lock become dead letters. */
  public static final String QUEUE = "X-Forelock-Queue";
  /** The same as a parameter of a bulk. */
  public static final String QUEUE_PARAMETER = "forelock_queue";
  /** Of a client: true refuses what would be written without a lock. */
  public static final String REQUIRED = "X-Forelock-Required";
  /** Of a client: the locks that it holds itself, under which it is written. */
  public static final String HELD = "X-Forelock-Held";
  /** Of a client: its identification. Some security plugins let only this header pass. */
  public static final String OPAQUE_ID = "X-Opaque-Id";
  public static final String WAIT_MS = "X-Forelock-Wait-Ms";
  public static final String TOKEN = "X-Forelock-Token";
  public static final String RETRY_AFTER = "Retry-After";

  // Of the plugin itself, see Carrier. No client can send them: they are not among the REST headers.
  /** Everything that descends from this request is background work. */
  public static final String BACKGROUND = "_forelock_background";
  /** Its value for what ends at the first item that is not written. */
  public static final String BACKGROUND_JOB = "job";
  /** This request's items are not queued, whatever the client says. */
  public static final String NO_QUEUE = "_forelock_no_queue";
  /** As {@link #HELD}, of code of a node. */
  public static final String HELD_WITHIN = "_forelock_held";
  /** A node began it on its own account: it is not guarded, on whichever node it continues. */
  public static final String OF_NODE = "_forelock_of_node";
  /** The locks of a shard group, for the primary. */
  public static final String GUARD = "_forelock_guard";
  /** The lock of an update, for the bulk that it becomes. */
  public static final String UPDATE_GUARD = "_forelock_update_guard";

  private Headers() {}

  /**
   * The class of the current request.
   *
   * @throws IllegalArgumentException if the client's header is invalid
   */
  public static LockType priority(Words words) {
    String text = said(words, PRIORITY);
    if (text == null) {
      return words.handedOn(BACKGROUND) != null ? LockType.BACKGROUND : LockType.FOREGROUND;
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

  /** Whether the client names a class at all. */
  public static boolean saysPriority(Words words) {
    return said(words, PRIORITY) != null;
  }

  /**
   * Whether the client lets items become dead letters.
   *
   * @throws IllegalArgumentException if its header is invalid
   */
  public static boolean wantsQueue(Words words) {
    return isTrue(words, QUEUE, QUEUE + ", " + QUEUE_PARAMETER) && words.handedOn(NO_QUEUE) == null;
  }

  /**
   * Whether the client demands a refusal instead of a write without a lock.
   *
   * @throws IllegalArgumentException if its header is invalid
   */
  public static boolean requiresLock(Words words) {
    return isTrue(words, REQUIRED, REQUIRED) | held(words) != null;
  }

  /**
   * The locks of which the client says that it holds them, or the code of the node that does it for the client.
   *
   * @return null: of none
   * @throws IllegalArgumentException if its header is invalid
   */
  public static HeldTokens held(Words words) {
    String within = words.handedOn(HELD_WITHIN);
    String text = within == null ? said(words, HELD) : within;
    return text == null ? null : HeldTokens.parse(text);
  }

  /**
   * Whether the client asks for the headers of the response.
   *
   * @throws IllegalArgumentException if its header is invalid
   */
  public static boolean wantsReport(Words words) {
    return isTrue(words, REPORT, REPORT);
  }

  /**
   * What the client says by a header, or as {@code name=value} in its X-Opaque-Id, whose parts are separated by
   * semicolons.
   *
   * @return null: nothing
   */
  public static String said(Words words, String header) {
    String value = words.header(header);
    String identity = value == null ? words.header(OPAQUE_ID) : null;
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
  private static boolean isTrue(Words words, String header, String names) {
    String text = said(words, header);
    if (text != null && !text.equals("true") && !text.equals("false")) {
      throw new IllegalArgumentException(names + ": '" + text + "' is invalid; write true or false");
    }
    return "true".equals(text);
  }
}
