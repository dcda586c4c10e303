package org.forelock.opensearch;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.opensearch.common.unit.TimeValue;
import org.opensearch.common.util.concurrent.AbstractRunnable;
import org.opensearch.threadpool.ThreadPool;

/** Workers are the node's threads for work that was held. Thread-safe. */
class Workers {
  private final ThreadPool threads;

  Workers(ThreadPool threads) {
    this.threads = threads;
  }

  /** Does it on a thread that may not block. @param rejected instead, if the node is closing */
  void write(Runnable task, Runnable rejected) {
    threads.executor(ThreadPool.Names.WRITE).execute(new AbstractRunnable() {
      @Override
      protected void doRun() {
        task.run();
      }

      @Override
      public boolean isForceExecution() {
        return true;
      }

      @Override
      public void onFailure(Exception problem) {
        rejected.run();
      }
    });
  }

  /** Does it on a thread that may block. @param rejected instead, if the node is closing */
  void block(Runnable task, Runnable rejected) {
    Executor executor = threads.generic();
    try {
      executor.execute(task);
    } catch (RejectedExecutionException closing) {
      rejected.run();
    }
  }

  /** Does it after a time, on any thread; not if the node is closed before. */
  void later(long millis, Runnable task) {
    threads.scheduleUnlessShuttingDown(TimeValue.timeValueMillis(millis), ThreadPool.Names.SAME, task);
  }
}
