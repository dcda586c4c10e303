package org.forelock.elasticsearch;

import java.util.function.Consumer;
import org.elasticsearch.common.util.concurrent.AbstractRunnable;
import org.elasticsearch.threadpool.ThreadPool;
import org.forelock.search.NodeParts;
import org.forelock.search.Refusals;

/** Workers are the node's threads for writes that were held. Thread-safe. */
final class Workers implements NodeParts.Threads {
  private final ThreadPool threads;

  Workers(ThreadPool threads) {
    this.threads = threads;
  }

  @Override
  public void write(Runnable task, Consumer<Exception> failed) {
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
        failed.accept(problem);
      }

      @Override
      public void onRejection(Exception closing) {
        failed.accept(Answers.of(Refusals.closing()));
      }
    });
  }
}
