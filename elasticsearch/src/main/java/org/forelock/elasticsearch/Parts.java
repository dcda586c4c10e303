package org.forelock.elasticsearch;

import org.elasticsearch.cluster.metadata.IndexNameExpressionResolver;
import org.elasticsearch.cluster.service.ClusterService;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.tasks.TaskManager;
import org.elasticsearch.threadpool.ThreadPool;
import org.forelock.search.Folders;

/** The plugin's own objects, for those that the node makes. Thread-safe. */
public final class Parts extends CommonParts {
  final PrimaryCheck check;
  private volatile Ancestry ancestry;

  Parts(Settings given, Folders folders, ClusterService cluster, ThreadPool threads,
      IndexNameExpressionResolver resolver, RestBase.Actions actions) {
    super(given, folders, cluster, threads, resolver, actions, null);
    check = new PrimaryCheck(requests, stats, threads, cluster, settings::isStrict);
  }

  /** To be called before the node takes requests. */
  void use(Peers peers, TaskManager tasks, Refreshes shown) {
    ancestry = new Ancestry(tasks::getTask, peers::localId, task -> requests.cancel(
        held -> ancestry.descends(held.task, task), "task " + task.number() + " was cancelled"));
    use(peers, ancestry, shown);
  }

  /** Ends a task's wait when an ancestor of it is cancelled. */
  void watch(Task task) {
    ancestry.watch(task);
  }
}
