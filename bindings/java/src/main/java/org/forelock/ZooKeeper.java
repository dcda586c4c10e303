package org.forelock;

/**
 * The session in which locks are taken, by the name that code written for ZooKeeper's own client has for it. There is
 * no other than a {@link ForelockClient}.
 */
public abstract class ZooKeeper {
  ZooKeeper() {}
}
