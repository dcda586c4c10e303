package org.forelock;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Runs the dependents of a client's futures, which may wait for locks and for each other: each on an idle thread, or on
 * a new one, up to a limit. If no thread is available, {@link #execute} throws.
 */
final class Continuations implements Executor {
  /** So that a burst does not use up the threads of the host. */
  static final int MAX_THREADS = 64;

  private final ThreadPoolExecutor threads;

  /**
   * Creates no thread yet.
   *
   * @param afterEnd runs tasks that come after {@link #end}
   */
  Continuations(ThreadFactory factory, Executor afterEnd) {
    Queue queue = new Queue();
    threads = new ThreadPoolExecutor(0, MAX_THREADS, 10, TimeUnit.SECONDS, queue, factory, (task, pool) -> {
      queue.keep(task);
      if (pool.isShutdown() && queue.remove(task)) {
        afterEnd.execute(task);
      }
    });
  }

  @Override
  public void execute(Runnable task) {
    threads.execute(task);
  }

  /** Accepts a task only if an idle thread waits for one, since a pool offers a task before it creates a thread. */
  private static final class Queue extends LinkedBlockingQueue<Runnable> {
    private static final long serialVersionUID = 1L;
    private int idle;

    @Override
    public synchronized boolean offer(Runnable task) {
      return idle > size() && super.offer(task);
    }

    /** Keeps a task until a thread is free. */
    void keep(Runnable task) {
      super.offer(task);
    }

    @Override
    public Runnable poll(long time, TimeUnit unit) throws InterruptedException {
      synchronized (this) {
        ++idle;
      }
      Runnable task = null;
      boolean waited = false;
      try {
        task = super.poll(time, unit);
        waited = true;
      } finally {
        synchronized (this) {
          --idle;
          if (waited && task == null) {
            task = poll(); // from an offer that still counted this thread as idle
          }
        }
      }
      return task;
    }
  }

  /** Earlier tasks are still run. Does not wait. */
  void end() {
    threads.shutdown();
  }
}
