package org.forelock.opensearch;

import java.nio.file.Path;

/** The node's folders. */
final class Folders {
  final Path configuration;
  final Path plugins;
  final Path temporary;

  Folders(Path configuration, Path plugins, Path temporary) {
    this.configuration = configuration;
    this.plugins = plugins;
    this.temporary = temporary;
  }
}
