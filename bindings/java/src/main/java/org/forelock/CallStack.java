package org.forelock;

import java.nio.charset.StandardCharsets;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * The call stack of an acquisition, for its owner record: the caller's frames, innermost first. Describing a frame
 * costs more than finding it, and the same few places lock again and again: lines are cached. Thread-safe.
 */
final class CallStack {
  private static final int MAX_FRAMES = 8;
  private static final int MAX_KEPT = 4096;
  private static final StackWalker WALKER = StackWalker.getInstance();
  private static final Set<String> OURS = Set.of(Contention.class.getName(), LockAdapter.class.getName(),
      HeldLock.class.getName(), LockSet.class.getName(), ZkBlockingWriteLock.class.getName(),
      CallStack.class.getName());
  private static final Map<Place, byte[]> LINES = new ConcurrentHashMap<>();

  private CallStack() {}

  /** One line for each frame. */
  static byte[] capture() {
    return WALKER.walk(CallStack::text);
  }

  private static byte[] text(Stream<StackWalker.StackFrame> frames) {
    byte[][] lines = new byte[MAX_FRAMES][];
    int count = 0;
    int length = 0;
    for (Iterator<StackWalker.StackFrame> all = frames.iterator(); count < MAX_FRAMES && all.hasNext();) {
      StackWalker.StackFrame frame = all.next();
      if (count > 0 || !OURS.contains(frame.getClassName())) {
        byte[] line = line(frame);
        lines[count++] = line;
        length += line.length;
      }
    }
    byte[] text = new byte[length];
    int end = 0;
    for (int i = 0; i < count; ++i) {
      System.arraycopy(lines[i], 0, text, end, lines[i].length);
      end += lines[i].length;
    }
    return text;
  }

  private static byte[] line(StackWalker.StackFrame frame) {
    Place place = new Place(frame.getClassName(), frame.getMethodName(), frame.getByteCodeIndex());
    byte[] line = LINES.get(place);
    if (line == null) {
      line = describe(frame).getBytes(StandardCharsets.UTF_8);
      if (LINES.size() >= MAX_KEPT) {
        LINES.clear();
      }
      LINES.put(place, line);
    }
    return line;
  }

  private static String describe(StackWalker.StackFrame frame) {
    String file = frame.getFileName();
    int line = frame.getLineNumber();
    String place = file == null ? "" : line < 0 ? "(" + file + ")" : "(" + file + ":" + line + ")";
    return frame.getClassName() + "." + frame.getMethodName() + place + "\n";
  }

  /** An instruction. By names: a class that is kept here could not be unloaded. */
  private static final class Place {
    private final String type;
    private final String method;
    private final int instruction;

    Place(String type, String method, int instruction) {
      this.type = type;
      this.method = method;
      this.instruction = instruction;
    }

    @Override
    public int hashCode() {
      return (type.hashCode() * 31 + method.hashCode()) * 31 + instruction;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Place && instruction == ((Place) other).instruction
          && type.equals(((Place) other).type) && method.equals(((Place) other).method);
    }
  }
}
