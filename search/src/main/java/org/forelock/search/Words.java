package org.forelock.search;

/** The headers of a request: of its client, and of the plugin itself on its way. */
public interface Words {
  /** The header of a client; null: it has none of that name. */
  String header(String name);

  /** A value that the plugin has passed on with it; null: none of that name. */
  String handedOn(String name);
}
