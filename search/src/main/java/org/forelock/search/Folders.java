package org.forelock.search;

import java.nio.file.Path;

/** The node's folders; one for data is null where the node keeps none. */
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
