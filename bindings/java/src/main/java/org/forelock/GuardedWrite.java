package org.forelock;

import java.util.List;

/** A guarded write as the native library takes it. */
final class GuardedWrite {
  private GuardedWrite() {}

  /** That of a lock or of a set. */
  interface Call {
    void write(long number, int[] kinds, byte[][] paths, byte[][] data, int[] versions);
  }

  static int[] commit(Call call, long number, List<WriteOperation> operations) {
    int count = operations.size();
    int[] kinds = new int[count];
    int[] versions = new int[count];
    byte[][] paths = new byte[count][];
    byte[][] data = new byte[count][];
    for (int i = 0; i < count; ++i) {
      WriteOperation operation = operations.get(i);
      kinds[i] = operation.kind;
      versions[i] = operation.version;
      paths[i] = NativeLibrary.utf8(operation.path);
      data[i] = operation.data;
    }
    Blocking.run(() -> call.write(number, kinds, paths, data, versions));
    return versions;
  }
}
