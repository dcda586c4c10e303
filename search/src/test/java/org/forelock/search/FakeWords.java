package org.forelock.search;

import java.util.HashMap;
import java.util.Map;

/** What is said with a request, in memory. */
final class FakeWords implements Words {
  private final Map<String, String> headers = new HashMap<>();
  private final Map<String, String> handedOn = new HashMap<>();

  void putHeader(String name, String value) {
    headers.put(name, value);
  }

  void handOn(String name, String value) {
    handedOn.put(name, value);
  }

  @Override
  public String header(String name) {
    return headers.get(name);
  }

  @Override
  public String handedOn(String name) {
    return handedOn.get(name);
  }
}
