/** A priority-aware distributed lock on Apache ZooKeeper. */
module org.forelock {
  requires static micrometer.core;

  exports org.forelock;
  exports org.forelock.micrometer;
}
