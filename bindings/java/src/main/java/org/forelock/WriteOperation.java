package org.forelock;

import java.util.Objects;

/** The caller's own ZooKeeper operation in a guarded write. Paths are absolute inside the configured chroot. */
public final class WriteOperation {
  /** Matches every data version. */
  public static final int ANY_VERSION = -1;

  final int kind;
  final String path;
  final byte[] data;
  final int version;

  private WriteOperation(int kind, String path, byte[] data, int version) {
    this.kind = kind;
    this.path = Objects.requireNonNull(path, "path");
    this.data = Objects.requireNonNull(data, "data").clone();
    this.version = version;
  }

  /**
   * Creates a persistent node.
   *
   * @param path of the node
   * @param data its contents
   * @return the operation
   */
  public static WriteOperation create(String path, byte[] data) {
    return new WriteOperation(Native.WRITE_CREATE, path, data, ANY_VERSION);
  }

  /**
   * Replaces a node's data.
   *
   * @param path of the node
   * @param data its contents
   * @param version the data version that it must have, or {@link #ANY_VERSION}
   * @return the operation
   */
  public static WriteOperation set(String path, byte[] data, int version) {
    return new WriteOperation(Native.WRITE_SET, path, data, version);
  }

  /**
   * Deletes a node.
   *
   * @param path of the node
   * @param version the data version that it must have, or {@link #ANY_VERSION}
   * @return the operation
   */
  public static WriteOperation delete(String path, int version) {
    return new WriteOperation(Native.WRITE_DELETE, path, new byte[0], version);
  }

  /**
   * Changes nothing; refused if the node is missing or its data version differs.
   *
   * @param path of the node
   * @param version the data version that it must have, or {@link #ANY_VERSION}
   * @return the operation
   */
  public static WriteOperation check(String path, int version) {
    return new WriteOperation(Native.WRITE_CHECK, path, new byte[0], version);
  }
}
