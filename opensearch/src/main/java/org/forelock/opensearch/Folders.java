package org.forelock.opensearch;

import java.nio.file.Path;

/** The node's folders; one for data is null where the node keeps none. */
final class Folders {
  final Path configuration;
  final Path plugins;
  final Path temporary;
  final Path data;

  Folders(Path configuration, Path plugins, Path temporary, Path data) {
    this.configuration = configuration;
    this.plugins = plugins;
    this.temporary = temporary;
    this.data = data;
  }
}
