package org.forelock;

import java.util.List;

/** A guarded write in the form that the native library takes. */
final class GuardedWrite {
  private GuardedWrite() {}

  static int[] commit(long number, List<WriteOperation> operations) {
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
    Blocking.run(() -> Native.lockWriteGuarded(number, kinds, paths, data, versions));
    return versions;
  }
}
