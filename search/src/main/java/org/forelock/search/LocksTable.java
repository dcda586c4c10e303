package org.forelock.search;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The contents of {@link LocksJson#list} as a table for people. */
public final class LocksTable {
  /** The path under which the other tables of a search engine are, too. */
  public static final String PATH = "/_cat/forelock";
  /** The columns' names, each with its attributes, as search engines take them. */
  public static final List<Map.Entry<String, String>> COLUMNS = List.of(
      Map.entry("monitor", "alias:m;desc:what is locked"),
      Map.entry("priority", "alias:p;desc:the holder's class"),
      Map.entry("held_ms", "alias:ms;text-align:right;desc:for so long"),
      Map.entry("linger_ms", "alias:l;text-align:right;desc:for so long its node may keep it when nothing is written"),
      Map.entry("foreground", "alias:fg;text-align:right;desc:so many wait in the foreground"),
      Map.entry("background", "alias:bg;text-align:right;desc:so many wait in the background"),
      Map.entry("token", "alias:t;default:false;desc:the holder's fencing token"),
      Map.entry("holder", "alias:h;desc:host, process and thread"),
      Map.entry("info", "alias:i;desc:what for"));

  private LocksTable() {}

  /** The cells of each row. @param locks as JSON */
  public static List<List<Object>> rows(Map<String, Object> locks) {
    List<List<Object>> rows = new ArrayList<>();
    for (Object one : (List<?>) locks.get("monitors")) {
      Map<?, ?> monitor = (Map<?, ?>) one;
      Map<?, ?> holder = (Map<?, ?>) monitor.get("holder");
      Map<?, ?> owner = inside(holder, "owner");
      Map<?, ?> waiting = inside(monitor, "waiting");
      rows.add(List.of(monitor.get("monitor"), holder == null ? "-" : or(holder.get("priority"), "?"),
          value(holder, "held_ms"), value(owner, "lingerMs"), value(waiting, "foreground"),
          value(waiting, "background"), value(holder, "token"), value(owner, "instance"), value(owner, "lockInfo")));
    }
    return rows;
  }

  private static Map<?, ?> inside(Map<?, ?> map, String key) {
    return map == null ? null : (Map<?, ?>) map.get(key);
  }

  private static Object value(Map<?, ?> map, String key) {
    return map == null ? "-" : or(map.get(key), "-");
  }

  private static Object or(Object value, Object otherwise) {
    return value == null ? otherwise : value;
  }
}
