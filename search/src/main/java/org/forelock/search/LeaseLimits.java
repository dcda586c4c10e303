package org.forelock.search;

/** The bounds of leases, as the settings are now. Thread-safe. */
public interface LeaseLimits {
  /** The largest number of leases that this node gives at a time, waiting ones included. */
  int mostLeases();

  /** The longest time that a lease lasts without being kept. */
  long mostKeepMillis();

  /** The longest wait for a lease. */
  long mostWaitMillis();
}
