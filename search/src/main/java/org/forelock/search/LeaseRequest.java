package org.forelock.search;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.forelock.LockSet;
import org.forelock.LockType;

/**
 * A client's request for a lease. Immutable.
 *
 * @param monitors one to {@link LockSet#MAX_MEMBERS}, in their order
 * @param named whether the client has asked for this class, or it is the usual one
 * @param timeoutMillis how long it may wait; negative: as long as a write of its class would
 * @param keepMillis for how long it lasts unless it is kept
 * @param info the purpose, for other clients
 */
public record LeaseRequest(
    List<String> monitors, LockType type, boolean named, long timeoutMillis, long keepMillis, String info) {
  private static final long DEFAULT_KEEP_MILLIS = 10_000;
  private static final long LEAST_KEEP_MILLIS = 100;
  private static final int MOST_INFO = 1000;
  private static final Set<String> FIELDS = Set.of("monitors", "priority", "timeout", "keep", "info");
  private static final Pattern TIME = Pattern.compile("([0-9]{1,9})(ms|s|m)");

  /**
   * Reads the body of a request.
   *
   * @throws IllegalArgumentException if it is invalid; the message says where, and what to write
   */
  public static LeaseRequest parse(Map<String, ?> body, LeaseLimits limits) {
    for (String field : body.keySet()) {
      if (!FIELDS.contains(field)) {
        throw new IllegalArgumentException("'" + field + "' is unknown; known are " + new TreeSet<>(FIELDS));
      }
    }
    long keep = millis(body, "keep", DEFAULT_KEEP_MILLIS, limits.mostKeepMillis(), "forelock.leases.max_keep");
    if (keep < LEAST_KEEP_MILLIS) {
      throw new IllegalArgumentException("keep: " + body.get("keep") + " is too short; " + LEAST_KEEP_MILLIS
          + "ms are the least");
    }
    Object wanted = body.get("priority");
    return new LeaseRequest(monitors(body.get("monitors")), priority(wanted), wanted != null,
        millis(body, "timeout", -1, limits.mostWaitMillis(), "forelock.leases.max_timeout"), keep,
        info(body.get("info")));
  }

  /** The same for a client that may not be foreground. */
  public LeaseRequest inBackground() {
    return new LeaseRequest(monitors, LockType.BACKGROUND, named, timeoutMillis, keepMillis, info);
  }

  private static List<String> monitors(Object value) {
    if (!(value instanceof List) || ((List<?>) value).isEmpty()) {
      throw new IllegalArgumentException("monitors: write a list of one or more, such as [\"P1\"]");
    }
    Set<String> monitors = new TreeSet<>();
    for (Object one : (List<?>) value) {
      if (!(one instanceof String) || !monitors.add((String) one)) {
        throw new IllegalArgumentException("monitors: '" + one + "' is no text, or is there twice");
      }
    }
    if (monitors.size() > LockSet.MAX_MEMBERS) {
      throw new IllegalArgumentException(
          "monitors: these are " + monitors.size() + ", and " + LockSet.MAX_MEMBERS + " are the most");
    }
    return List.copyOf(monitors);
  }

  private static LockType priority(Object value) {
    for (LockType type : LockType.values()) {
      if (value == null || Names.of(type).equals(value)) {
        return value == null ? LockType.FOREGROUND : type;
      }
    }
    throw new IllegalArgumentException("priority: '" + value + "' is invalid; write foreground or background");
  }

  private static String info(Object value) {
    if (value == null) {
      return "lease";
    }
    if (!(value instanceof String) || ((String) value).length() > MOST_INFO) {
      throw new IllegalArgumentException("info: write a text of at most " + MOST_INFO + " characters");
    }
    return (String) value;
  }

  private static long millis(Map<String, ?> body, String field, long absent, long most, String setting) {
    Object value = body.get(field);
    if (value == null) {
      return Math.min(absent, most);
    }
    Matcher time = TIME.matcher(value.toString());
    if (!time.matches()) {
      throw new IllegalArgumentException(field + ": '" + value + "' is no time; write one such as 500ms, 10s or 1m");
    }
    long unit = time.group(2).equals("ms") ? 1 : time.group(2).equals("s") ? 1000 : 60_000;
    long millis = Long.parseLong(time.group(1)) * unit;
    if (millis > most) {
      throw new IllegalArgumentException(field + ": " + value + " is more than the " + most + "ms that " + setting
          + " permits");
    }
    return millis;
  }
}
