package org.forelock.opensearch;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.opensearch.core.tasks.TaskId;

/** Which held requests are meant: by task, monitor or priority; all that is given must fit. Immutable. */
final class Selection {
  static final Set<String> PARAMETERS = Set.of("task", "monitor", "priority");

  private final TaskId task;
  private final String monitor;
  private final String priority;

  private Selection(TaskId task, String monitor, String priority) {
    this.task = task;
    this.monitor = monitor;
    this.priority = priority;
  }

  /**
   * Reads the parameters of a request.
   *
   * @throws IllegalArgumentException if none is given, or one is invalid
   */
  static Selection of(Map<String, String> parameters) {
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
    TaskId task = given.get("task") == null ? null : new TaskId(given.get("task"));
    if (task != null && !task.isSet()) { // it would be the parent of all that have none
      throw new IllegalArgumentException("task: '" + given.get("task") + "' is invalid; write node:number");
    }
    return new Selection(task, given.get("monitor"), priority);
  }

  boolean fits(HeldRequest held, Ancestry ancestry) {
    return (task == null || ancestry.descends(held.task, task))
        && (monitor == null || held.locks.has(monitor))
        && (priority == null || priority.equals(Names.of(held.type)));
  }
}
