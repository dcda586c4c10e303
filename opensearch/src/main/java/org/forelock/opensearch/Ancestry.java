package org.forelock.opensearch;

import org.forelock.search.Ancestors;
import org.forelock.search.TaskName;
import org.opensearch.cluster.service.ClusterService;
import org.opensearch.core.tasks.TaskId;
import org.opensearch.tasks.Task;
import org.opensearch.tasks.TaskManager;

/** The descent of tasks, as far as this node knows it. */
final class Ancestry implements Ancestors {
  private static final int MAX_DEPTH = 16;

  private final TaskManager tasks;
  private final ClusterService cluster;

  Ancestry(TaskManager tasks, ClusterService cluster) {
    this.tasks = tasks;
    this.cluster = cluster;
  }

  boolean descends(Object task, long localAncestor) {
    return descends((Task) task, new TaskId(cluster.localNode().getId(), localAncestor));
  }

  @Override
  public boolean descends(Object task, TaskName ancestor) {
    return descends((Task) task, new TaskId(ancestor.node(), ancestor.number()));
  }

  private boolean descends(Task task, TaskId ancestor) {
    String local = cluster.localNode().getId();
    Task one = task;
    for (int depth = 0; one != null && depth < MAX_DEPTH; ++depth) {
      if (ancestor.equals(new TaskId(local, one.getId())) || ancestor.equals(one.getParentTaskId())) {
        return true;
      }
      TaskId parent = one.getParentTaskId();
      one = parent.isSet() && parent.getNodeId().equals(local) ? tasks.getTask(parent.getId()) : null;
    }
    return false;
  }
}
