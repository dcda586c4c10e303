package org.forelock;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;

/** A replay of dead letters under way. */
final class Replay {
  private final ClientCore core;
  private final long tag;
  private final long handle;

  private Replay(ClientCore core, DeadLetterQueue queue, ReplayOptions options, Consumer<Event> consumer) {
    if (core.isRefusing()) {
      throw Failures.of(Event.CLOSED);
    }
    this.core = core;
    tag = core.follow(consumer);
    try {
      handle = Native.dlqReplay(core.handle, queue.handle, options.numbers, options.texts, tag);
    } catch (RuntimeException problem) {
      core.forget(tag);
      throw problem;
    }
  }

  /** This thread calls the handler. */
  static ReplayReport run(ClientCore core, DeadLetterQueue queue, ReplayOptions options, ReplayHandler handler) {
    if (core.onPoller()) {
      throw new RequestRejectedException(ErrorCode.INVALID_ARGUMENT, "",
          "replay() was called by the thread that fetches the client's events, for which it would wait",
          "use replayAsync(), or an executor with threads of its own for what leads here");
    }
    core.checkMayWait("", "use replayAsync(), or a thread of your own");
    BlockingQueue<Event> events = new LinkedBlockingQueue<>();
    Replay replay = new Replay(core, queue, options.concurrency(1), events::add);
    try {
      while (true) {
        Event event = Event.take(events, replay::stop);
        if (event.kind != Native.EVENT_LETTER) {
          return replay.report(event);
        }
        replay.call(event, handler);
      }
    } finally {
      replay.free();
    }
  }

  /** The executor calls the handler. */
  static CompletableFuture<ReplayReport> begin(
      ClientCore core, DeadLetterQueue queue, ReplayOptions options, Executor executor, ReplayHandler handler) {
    CompletableFuture<ReplayReport> result = new CompletableFuture<>();
    CompletableFuture<Replay> begun = new CompletableFuture<>();
    begun.complete(new Replay(core, queue, options, event -> {
      if (event.kind == Native.EVENT_LETTER) {
        begun.thenAccept(replay -> replay.execute(event, executor, handler));
      } else {
        begun.thenAccept(replay -> core.complete(() -> replay.end(event, result)));
      }
    }));
    result.whenComplete((end, problem) -> {
      if (result.isCancelled()) {
        begun.join().stop();
      }
    });
    return result;
  }

  private void execute(Event event, Executor executor, ReplayHandler handler) {
    try {
      executor.execute(() -> call(event, handler));
    } catch (Throwable refused) {
      putOff(event, "the executor has refused it", refused);
    }
  }

  /** Puts a letter off for a failure that is not its own. */
  private static void putOff(Event event, String why, Throwable problem) {
    Native.attemptFail(event.source, NativeLibrary.utf8("overloaded"),
        NativeLibrary.told(why + ": " + problem.getClass().getName()), true);
  }

  private void call(Event event, ReplayHandler handler) {
    ReplayAttempt attempt;
    try {
      attempt = new ReplayAttempt(core, new DeadLetter(event.source), event);
    } catch (RequestRejectedException ended) {
      return; // with the replay, meanwhile
    } catch (Throwable noMemory) {
      putOff(event, "it cannot be read", noMemory);
      throw noMemory;
    }
    try {
      handler.run(attempt);
      attempt.succeed();
    } catch (InterruptedException problem) {
      Thread.currentThread().interrupt();
      stop(); // before the end: so that it is no failure of the letter's
      attempt.fail(problem);
    } catch (Throwable problem) {
      attempt.fail(problem);
      if (problem instanceof Error) {
        throw (Error) problem;
      }
    }
  }

  private ReplayReport report(Event end) {
    if (!end.ok()) {
      throw Failures.of(end);
    }
    return new ReplayReport(handle);
  }

  private void end(Event end, CompletableFuture<ReplayReport> result) {
    try {
      ReplayReport report = report(end);
      free();
      result.complete(report);
    } catch (Throwable problem) {
      free();
      result.completeExceptionally(problem);
    }
  }

  private void stop() {
    Native.replayStop(handle);
  }

  private void free() {
    core.forget(tag);
    Blocking.run(() -> Native.replayFree(handle));
  }
}
