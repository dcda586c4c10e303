package org.forelock.search;

/** What is said with a request: by its client, and by the plugin itself on its way. */
public interface Words {
  /** The header of a client; null: it has none of that name. */
  String header(String name);

  /** What the plugin has handed on with it; null: nothing of that name. */
  String handedOn(String name);
}
