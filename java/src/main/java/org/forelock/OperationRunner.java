package org.forelock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Runs operations under their locks, with retries and, after the last, the dead-letter queue. Every operation ends as
 * exactly one of: succeeded, failed to the caller (an exception: the caller still owns it), or dead-lettered.
 *
 * <p>At least once: a handler may be called again although an earlier call had its effect. Thread-safe.
 */
public final class OperationRunner implements AutoCloseable {
  private final ForelockClient client;
  private final long handle;

  /**
   * A runner with the default waits between attempts.
   *
   * @param client whose settings say how often is tried again
   * @param queue where operations go that ran out of retries
   */
  public OperationRunner(ForelockClient client, DeadLetterQueue queue) {
    this(client, queue, Duration.ZERO, Duration.ZERO);
  }

  /**
   * A runner.
   *
   * @param client whose settings say how often is tried again
   * @param queue where operations go that ran out of retries
   * @param firstWait the bound of the wait before the first retry; zero: the default
   * @param longestWait the bound never grows beyond; zero: the default
   */
  public OperationRunner(ForelockClient client, DeadLetterQueue queue, Duration firstWait, Duration longestWait) {
    this.client = client;
    this.handle =
        Native.runnerNew(client.core().handle, queue.handle, firstWait.toMillis(), longestWait.toMillis(), 0);
  }

  /** Does the work of one attempt; throws to say that it failed. */
  @FunctionalInterface
  public interface Handler {
    /**
     * Does it.
     *
     * @param attempt with its lock
     * @throws Exception to say that it failed: {@link OperationFailure} says how
     */
    void run(OperationAttempt attempt) throws Exception;
  }

  /**
   * Runs the operation; the handler is called by this thread. An interruption while it waits withdraws it.
   *
   * @param operation what to do
   * @param handler does it
   * @return how it ended
   * @throws InstanceLockException it was withdrawn; the caller keeps the operation
   */
  public OperationResult run(Operation operation, Handler handler) {
    BlockingQueue<Event> events = new LinkedBlockingQueue<>();
    List<String> failures = new ArrayList<>();
    Ticket ticket = submit(operation, events::add);
    try {
      while (true) {
        Event event = ticket.next(events);
        switch (event.kind) {
          case Event.ATTEMPT:
            attempt(new OperationAttempt(operation, event), handler);
            break;
          case Event.FAILURE:
            failures.add(event.name);
            break;
          default:
            if (!event.ok()) {
              throw Failures.of(event);
            }
            return new OperationResult(event, failures);
        }
      }
    } finally {
      ticket.end();
    }
  }

  private static void attempt(OperationAttempt attempt, Handler handler) {
    try {
      handler.run(attempt);
      attempt.succeed();
    } catch (InterruptedException problem) {
      Thread.currentThread().interrupt();
      attempt.fail(problem);
    } catch (Throwable problem) {
      attempt.fail(problem);
      if (problem instanceof Error) {
        throw (Error) problem;
      }
    }
  }

  /**
   * Runs the operation without blocking. Cancelling the future withdraws the operation, but interrupts no handler.
   *
   * @param operation what to do
   * @param executor calls the handler
   * @param handler begins an attempt; the attempt has ended when the stage is completed
   * @return how it ended
   */
  public CompletableFuture<OperationResult> runAsync(
      Operation operation, Executor executor, Function<OperationAttempt, CompletionStage<?>> handler) {
    List<String> failures = Collections.synchronizedList(new ArrayList<>());
    CompletableFuture<OperationResult> result = new CompletableFuture<>();
    CompletableFuture<Ticket> begun = new CompletableFuture<>();
    begun.complete(submit(operation, event -> {
      switch (event.kind) {
        case Event.ATTEMPT:
          begin(new OperationAttempt(operation, event), executor, handler);
          break;
        case Event.FAILURE:
          failures.add(event.name);
          break;
        default:
          begun.thenAccept(Ticket::end);
          client.core().call(() -> {
            if (event.ok()) {
              result.complete(new OperationResult(event, failures));
            } else {
              result.completeExceptionally(Failures.of(event));
            }
          });
          break;
      }
    }));
    result.whenComplete((end, problem) -> {
      if (result.isCancelled()) {
        begun.join().cancel();
      }
    });
    return result;
  }

  private static void begin(
      OperationAttempt attempt, Executor executor, Function<OperationAttempt, CompletionStage<?>> handler) {
    try {
      executor.execute(() -> {
        try {
          handler.apply(attempt).whenComplete((done, problem) -> {
            if (problem == null) {
              attempt.succeed();
            } else {
              attempt.fail(
                  problem instanceof java.util.concurrent.CompletionException && problem.getCause() != null
                      ? problem.getCause() : problem);
            }
          });
        } catch (Throwable problem) {
          attempt.fail(problem);
        }
      });
    } catch (RuntimeException refused) {
      attempt.fail(refused);
    }
  }

  private Ticket submit(Operation operation, Consumer<Event> consumer) {
    ClientCore core = client.core();
    long tag = core.listen(consumer);
    try {
      long number = Native.runnerSubmit(
          handle, operation.texts(), operation.payload, operation.lockType.ordinal(), 0, tag);
      core.fetchIfEnded();
      return new Ticket(core, tag, number);
    } catch (RuntimeException problem) {
      core.forget(tag);
      throw problem;
    }
  }

  /** Withdraws what waits, fails the attempts under way, and waits until the last operation has ended. Idempotent. */
  @Override
  public void close() {
    Blocking.run(() -> Native.runnerFree(handle));
  }

  private static final class Ticket {
    private final ClientCore core;
    private final long tag;
    private final long number;

    Ticket(ClientCore core, long tag, long number) {
      this.core = core;
      this.tag = tag;
      this.number = number;
    }

    void cancel() {
      Native.operationCancel(number);
    }

    void end() {
      core.forget(tag);
      Native.operationFree(number);
    }

    Event next(BlockingQueue<Event> events) {
      boolean interrupted = false;
      try {
        while (true) {
          try {
            return events.take();
          } catch (InterruptedException interruption) {
            interrupted = true;
            cancel();
          }
        }
      } finally {
        if (interrupted) {
          Thread.currentThread().interrupt();
        }
      }
    }
  }
}
