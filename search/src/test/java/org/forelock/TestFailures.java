package org.forelock;

/** Failures of the library, for tests of what is built on it: their constructors are the library's own. */
public final class TestFailures {
  private TestFailures() {}

  public static ForelockException of(ErrorCode code, String monitor) {
    return new ForelockException(code, monitor, "failed: " + monitor, "");
  }
}
