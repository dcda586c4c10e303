package org.forelock;

import java.util.concurrent.BlockingQueue;

/** What the native library tells of: one event of its queue. */
final class Event {
  static final int ACQUIRED = 1;
  static final int RELEASED = 2;
  static final int LOST = 3;
  static final int DANGER = 4;
  static final int QUEUED = 5;
  static final int CONTENDED = 6;
  static final int ATTEMPT = 7;
  static final int FAILURE = 8;
  static final int OPERATION = 9;
  static final int LOG = 10;
  static final int DROPPED = 11;
  static final int LETTER = 12;
  static final int REPLAY = 13;

  static final int NUMBERS = 6;
  static final int TEXTS = 4;

  /** The end of a call of a client that is closed, where no event tells it. */
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
    int number = index * NUMBERS;
    int text = index * TEXTS;
    kind = (int) numbers[number];
    code = (int) numbers[number + 1];
    source = numbers[number + 2];
    tag = numbers[number + 3];
    value = numbers[number + 4];
    monitor = Failures.text(texts[text]);
    name = Failures.text(texts[text + 1]);
    message = Failures.text(texts[text + 2]);
    hint = Failures.text(texts[text + 3]);
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

  /** Waits for the next one through all interruptions, which are told and kept. */
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
