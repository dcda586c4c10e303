package org.forelock.search;

import java.nio.file.Path;

/** The node's folders; the data folder is null where the node has none. */
public final class Folders {
  public final Path configuration;
  public final Path plugins;
  public final Path data;

  public Folders(Path configuration, Path plugins, Path data) {
    this.configuration = configuration;
    this.plugins = plugins;
    this.data = data;
  }
}
