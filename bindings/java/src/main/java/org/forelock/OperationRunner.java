package org.forelock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
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
   * Creates a runner with the default waits between attempts.
   *
   * @param client takes the locks; its settings limit the attempts
   * @param queue accepts operations that have used up their retries
   */
  public OperationRunner(ForelockClient client, DeadLetterQueue queue) {
    this(client, queue, RunnerOptions.DEFAULT);
  }

  /**
   * Creates a runner.
   *
   * @param client takes the locks; its settings limit the attempts
   * @param queue accepts operations that have used up their retries
   * @param firstWait the bound of the wait before the first retry; zero: the default
   * @param longestWait the bound never grows beyond; zero: the default
   * @throws RequestRejectedException (INVALID_ARGUMENT) if one is negative, or more than 24 hours
   */
  public OperationRunner(ForelockClient client, DeadLetterQueue queue, Duration firstWait, Duration longestWait) {
    this(client, queue, RunnerOptions.DEFAULT.waits(firstWait, longestWait));
  }

  /**
   * Creates a runner with its own limits.
   *
   * @param client takes the locks; its settings limit the attempts
   * @param queue accepts operations that have used up their retries
   * @param options its waits and limits
   */
  public OperationRunner(ForelockClient client, DeadLetterQueue queue, RunnerOptions options) {
    this.client = client;
    this.handle = Native.runnerNew(client.core().handle, queue.handle, options.numbers());
  }

  /** Does the work of one attempt; throws if it fails. */
  @FunctionalInterface
  public interface Handler {
    /**
     * Does the work.
     *
     * @param attempt with its lock
     * @throws Exception if it fails: {@link OperationFailure} states the failure
     */
    void run(OperationAttempt attempt) throws Exception;
  }

  /**
   * Runs the operation; this thread calls the handler. An interruption while it waits cancels the operation. So does an
   * {@link Error} of the handler, which is thrown when the operation has ended: the caller keeps it.
   *
   * @param operation the operation
   * @param handler does the work
   * @return the result
   * @throws InstanceLockException it was cancelled; the caller keeps the operation
   * @throws RequestRejectedException (INVALID_ARGUMENT) if this is the thread that fetches the client's events, for
   *     which it would wait: see {@link ZkBlockingWriteLock#acquireAsync(Duration, Executor)}
   */
  public OperationResult run(Operation operation, Handler handler) {
    if (client.core().onPoller()) {
      throw new RequestRejectedException(ErrorCode.INVALID_ARGUMENT, operation.monitor,
          "run() was called by the thread that fetches the client's events, for which it would wait",
          "use runAsync(), or an executor with threads of its own for what leads here");
    }
    client.core().checkMayWait(operation.monitor, "use runAsync(), or a thread of your own");
    BlockingQueue<Event> events = new LinkedBlockingQueue<>();
    List<String> failures = new ArrayList<>();
    Ticket ticket = submit(operation, events::add);
    try {
      while (true) {
        Event event = Event.take(events, ticket::cancel);
        switch (event.kind) {
          case Native.EVENT_ATTEMPT:
            try {
              call(new OperationAttempt(client.core(), operation, event), handler, ticket);
            } catch (Error problem) {
              skipToEnd(events);
              throw problem;
            }
            break;
          case Native.EVENT_FAILURE:
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

  private static void call(OperationAttempt attempt, Handler handler, Ticket ticket) {
    if (!attempt.isOpen()) {
      return; // the runner was closed meanwhile: the operation's end follows
    }
    try {
      handler.run(attempt);
      attempt.succeed();
    } catch (InterruptedException problem) {
      Thread.currentThread().interrupt();
      attempt.fail(problem);
    } catch (Exception problem) {
      attempt.fail(problem);
    } catch (Error problem) {
      ticket.cancel(); // first: the attempt's end alone would put what the caller keeps into the queue
      attempt.fail(problem);
      throw problem;
    }
  }

  private static void skipToEnd(BlockingQueue<Event> events) {
    int kind;
    do {
      kind = Event.take(events, () -> { }).kind;
    } while (kind == Native.EVENT_ATTEMPT || kind == Native.EVENT_FAILURE);
  }

  /**
   * Runs the operation without blocking. Cancelling the future cancels the operation, but interrupts no handler.
   *
   * @param operation the operation
   * @param executor calls the handler. One that runs tasks at once ({@code Runnable::run}, or a full pool whose caller
   *     runs the task) has it called by the thread that fetches the client's events, with the limits that
   *     {@link ZkBlockingWriteLock#acquireAsync(Duration, Executor)} names. An attempt that it refuses has failed
   * @param handler begins an attempt; the attempt has ended when the stage is completed
   * @return the result
   */
  public CompletableFuture<OperationResult> runAsync(
      Operation operation, Executor executor, Function<OperationAttempt, CompletionStage<?>> handler) {
    List<String> failures = Collections.synchronizedList(new ArrayList<>());
    CompletableFuture<OperationResult> result = new CompletableFuture<>();
    CompletableFuture<Ticket> begun = new CompletableFuture<>();
    begun.complete(submit(operation, event -> {
      switch (event.kind) {
        case Native.EVENT_ATTEMPT:
          begin(new OperationAttempt(client.core(), operation, event), executor, handler);
          break;
        case Native.EVENT_FAILURE:
          failures.add(event.name);
          break;
        default:
          begun.thenAccept(Ticket::end);
          client.core().complete(() -> {
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
        if (!attempt.isOpen()) {
          return; // the runner was closed meanwhile
        }
        try {
          handler.apply(attempt).whenComplete((done, problem) -> {
            if (problem == null) {
              attempt.succeed();
            } else {
              attempt.fail(unwrapped(problem));
            }
          });
        } catch (Throwable problem) {
          attempt.fail(problem);
        }
      });
    } catch (Throwable refused) {
      attempt.fail(refused);
    }
  }

  /** The failure of a stage, which dependent stages wrap. */
  private static Throwable unwrapped(Throwable problem) {
    try {
      Throwable cause = problem instanceof CompletionException ? problem.getCause() : null;
      return cause == null ? problem : cause;
    } catch (Throwable ofTheApplication) {
      return problem;
    }
  }

  private Ticket submit(Operation operation, Consumer<Event> consumer) {
    ClientCore core = client.core();
    if (core.isRefusing()) {
      throw Failures.of(Event.CLOSED);
    }
    long tag = core.follow(consumer);
    try {
      long number = Native.runnerSubmit(handle, operation.numbers(), operation.texts(), operation.payload, tag);
      return new Ticket(core, tag, number);
    } catch (RuntimeException problem) {
      core.forget(tag);
      throw problem;
    }
  }

  /**
   * Cancels all operations, and waits until the last one has ended. They stay with their callers (cancelled), except
   * those that are on their way into the queue already. An attempt under way is over, too: work that still runs for it
   * has no lock any more. No further handler is called. Idempotent.
   */
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
  }
}
