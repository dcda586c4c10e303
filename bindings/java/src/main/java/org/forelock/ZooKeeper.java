package org.forelock;

/**
 * The session in which locks are taken, under the name that code written for ZooKeeper's own client uses. The only
 * subclass is {@link ForelockClient}.
 */
public abstract class ZooKeeper {
  ZooKeeper() {}
}
