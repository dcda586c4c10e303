package org.forelock.search;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.forelock.LockType;

/** Selects held requests by task, monitor or priority; all given conditions must match. Immutable. */
public final class Selection {
  private static final Set<String> PARAMETERS = Set.of("task", "monitor", "priority");

  /** The new class of the selected requests. */
  public static final String TO = "to";

  private final TaskName task;
  private final String monitor;
  private final String priority;

  private Selection(TaskName task, String monitor, String priority) {
    this.task = task;
    this.monitor = monitor;
    this.priority = priority;
  }

  /**
   * Reads the parameters of a request.
   *
   * @throws IllegalArgumentException if none is given, or one is invalid
   */
  public static Selection of(Map<String, String> parameters) {
    Map<String, String> given = new HashMap<>(parameters);
    given.keySet().retainAll(PARAMETERS);
    if (given.isEmpty()) {
      throw new IllegalArgumentException(
          "which requests are meant? Name a task (node:number), a monitor, or a priority");
    }
    String priority = given.get("priority");
    if (priority != null && !Set.of("foreground", "background").contains(priority)) {
      throw new IllegalArgumentException("priority: '" + priority + "' is invalid; write foreground or background");
    }
    TaskName task = given.get("task") == null ? null : TaskName.parse(given.get("task"));
    return new Selection(task, given.get("monitor"), priority);
  }

  /**
   * Those that a request gives, checked.
   *
   * @param given the value of one; null: it is not given
   * @param withClass whether it may give {@link #TO}
   * @throws IllegalArgumentException if none is given, or one is invalid
   */
  public static Map<String, String> parameters(UnaryOperator<String> given, boolean withClass) {
    Map<String, String> parameters = new HashMap<>();
    PARAMETERS.forEach(name -> parameters.put(name, given.apply(name)));
    if (withClass) {
      parameters.put(TO, given.apply(TO));
    }
    parameters.values().removeIf(Objects::isNull);
    of(parameters);
    wanted(parameters);
    return parameters;
  }

  /** The class of {@code to}, foreground without it. @throws IllegalArgumentException if it is invalid */
  public static LockType wanted(Map<String, String> parameters) {
    String name = parameters.getOrDefault(TO, Names.of(LockType.FOREGROUND));
    for (LockType type : LockType.values()) {
      if (Names.of(type).equals(name)) {
        return type;
      }
    }
    throw new IllegalArgumentException("to: '" + name + "' is invalid; write foreground or background");
  }

  public boolean fits(HeldRequest held, Ancestors ancestors) {
    return (task == null || ancestors.descends(held.task, task))
        && (monitor == null || held.locks.has(monitor))
        && (priority == null || priority.equals(Names.of(held.type)));
  }
}
