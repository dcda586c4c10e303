package org.forelock.search;

/** The bounds of leases, as the settings are now. Thread-safe. */
public interface LeaseLimits {
  /** So many at a time that this node gives, those that wait included. */
  int mostLeases();

  /** For so long one may last without being kept. */
  long mostKeepMillis();

  /** For so long one may be waited for. */
  long mostWaitMillis();
}
