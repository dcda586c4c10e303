/** A priority-aware distributed lock on Apache ZooKeeper. */
module org.forelock {
  exports org.forelock;
}
