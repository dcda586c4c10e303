package org.forelock.search;

/** Bounds of leases that a test sets. */
final class FakeLeaseLimits implements LeaseLimits {
  int most = 3;
  long mostKeepMillis = 60_000;
  long mostWaitMillis = 60_000;

  @Override
  public int mostLeases() {
    return most;
  }

  @Override
  public long mostKeepMillis() {
    return mostKeepMillis;
  }

  @Override
  public long mostWaitMillis() {
    return mostWaitMillis;
  }
}
