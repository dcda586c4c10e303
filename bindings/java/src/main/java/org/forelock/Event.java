package org.forelock;

import java.util.concurrent.BlockingQueue;

/** One event of the native library's queue. */
final class Event {
  /** The end of a call of a closed client for which the library has no event. */
  static final Event CLOSED = new Event(ErrorCode.CLOSED, "the client is closed");

  final int kind;
  final int code;
  final long source;
  final long tag;
  final long value;
  final String monitor;
  final String name;
  final String message;
  final String hint;

  Event(long[] numbers, byte[][] texts, int index) {
    int number = index * Layouts.Event.NUMBERS;
    int text = index * Layouts.Event.TEXTS;
    kind = (int) numbers[number + Layouts.Event.KIND];
    code = (int) numbers[number + Layouts.Event.CODE];
    source = numbers[number + Layouts.Event.SOURCE];
    tag = numbers[number + Layouts.Event.TAG];
    value = numbers[number + Layouts.Event.VALUE];
    monitor = Failures.text(texts[text + Layouts.Event.MONITOR]);
    name = Failures.text(texts[text + Layouts.Event.NAME]);
    message = Failures.text(texts[text + Layouts.Event.MESSAGE]);
    hint = Failures.text(texts[text + Layouts.Event.HINT]);
  }

  private Event(ErrorCode problem, String text) {
    kind = 0;
    code = problem.number();
    source = 0;
    tag = 0;
    value = 0;
    monitor = "";
    name = "";
    message = text;
    hint = "";
  }

  /** Waits for the next one through all interruptions, which are reported and kept. */
  static Event take(BlockingQueue<Event> events, Runnable interrupted) {
    boolean again = false;
    try {
      while (true) {
        try {
          return events.take();
        } catch (InterruptedException interruption) {
          again = true;
          interrupted.run();
        }
      }
    } finally {
      if (again) {
        Thread.currentThread().interrupt();
      }
    }
  }

  boolean ok() {
    return code == 0;
  }
}
