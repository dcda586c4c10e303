package org.forelock.search;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/** Which held requests are meant: by task, monitor or priority; all that is given must fit. Immutable. */
public final class Selection {
  public static final Set<String> PARAMETERS = Set.of("task", "monitor", "priority");

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
          "which requests are to be cancelled? Name a task (node:number), a monitor, or a priority");
    }
    String priority = given.get("priority");
    if (priority != null && !Set.of("foreground", "background").contains(priority)) {
      throw new IllegalArgumentException("priority: '" + priority + "' is invalid; write foreground or background");
    }
    TaskName task = given.get("task") == null ? null : TaskName.parse(given.get("task"));
    return new Selection(task, given.get("monitor"), priority);
  }

  public boolean fits(HeldRequest held, Ancestors ancestors) {
    return (task == null || ancestors.descends(held.task, task))
        && (monitor == null || held.locks.has(monitor))
        && (priority == null || priority.equals(Names.of(held.type)));
  }
}
