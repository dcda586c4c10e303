package org.forelock.search;

import java.util.EnumMap;
import java.util.Map;
import org.forelock.LockType;

/** Limits that a test sets; without it there are none, and the configuration's times count. */
final class FakeLimits implements Limits {
  private final Map<LockType, Integer> requests = new EnumMap<>(LockType.class);
  private final Map<LockType, Long> bytes = new EnumMap<>(LockType.class);
  private final Map<LockType, Long> times = new EnumMap<>(LockType.class);
  private boolean allowsUnguarded;

  FakeLimits bound(LockType type, int mostRequests, long mostBytes) {
    requests.put(type, mostRequests);
    bytes.put(type, mostBytes);
    return this;
  }

  FakeLimits timeout(LockType type, long millis) {
    times.put(type, millis);
    return this;
  }

  FakeLimits allowUnguarded() {
    allowsUnguarded = true;
    return this;
  }

  @Override
  public int maxRequests(LockType type) {
    return requests.getOrDefault(type, Integer.MAX_VALUE);
  }

  @Override
  public long maxBytes(LockType type) {
    return bytes.getOrDefault(type, Long.MAX_VALUE);
  }

  @Override
  public long timeoutMillis(LockType type) {
    return times.getOrDefault(type, -1L);
  }

  @Override
  public boolean allowsUnguarded() {
    return allowsUnguarded;
  }
}
