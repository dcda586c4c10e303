package org.forelock.elasticsearch;

import java.util.Collections;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import org.elasticsearch.tasks.CancellableTask;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.tasks.TaskId;
import org.forelock.search.Ancestors;
import org.forelock.search.TaskName;

/** The descent of tasks, as far as this node knows it. Thread-safe. */
final class Ancestry implements Ancestors {
  private static final int MAX_DEPTH = 16;

  private final LongFunction<Task> tasks;
  private final Supplier<String> node;
  private final Consumer<TaskName> cancelled;
  private final Set<CancellableTask> watched = Collections.newSetFromMap(new WeakHashMap<>());

  /**
   * Watches nothing yet.
   *
   * @param tasks those of this node, by number; null: there is none
   * @param node the id of this one
   * @param cancelled is told of each task that was watched and is cancelled
   */
  Ancestry(LongFunction<Task> tasks, Supplier<String> node, Consumer<TaskName> cancelled) {
    this.tasks = tasks;
    this.node = node;
    this.cancelled = cancelled;
  }

  @Override
  public boolean descends(Object task, TaskName ancestor) {
    TaskId wanted = new TaskId(ancestor.node(), ancestor.number());
    Task one = (Task) task;
    for (int depth = 0; one != null && depth < MAX_DEPTH; ++depth) {
      if (wanted.equals(new TaskId(node.get(), one.getId())) || wanted.equals(one.getParentTaskId())) {
        return true;
      }
      one = parent(one);
    }
    return false;
  }

  private Task parent(Task task) {
    TaskId parent = task.getParentTaskId();
    return parent.isSet() && parent.getNodeId().equals(node.get()) ? tasks.apply(parent.getId()) : null;
  }

  /** Watches its ancestors: they can be cancelled, the task itself cannot. */
  void watch(Task task) {
    Task one = task;
    for (int depth = 0; one != null && depth < MAX_DEPTH; ++depth) {
      if (one instanceof CancellableTask) {
        watchOnce((CancellableTask) one);
      }
      one = parent(one);
    }
  }

  private void watchOnce(CancellableTask task) {
    boolean first;
    synchronized (watched) {
      first = watched.add(task);
    }
    if (first) {
      TaskName name = new TaskName(node.get(), task.getId());
      task.addListener(() -> cancelled.accept(name));
    }
  }
}
