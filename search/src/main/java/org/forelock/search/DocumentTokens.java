package org.forelock.search;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The fencing token of each document of a write, where they differ: under locks that a client holds, the next write of
 * a document may come under the same lock, and must not meet a version that is another lock's later token. Immutable.
 */
public final class DocumentTokens {
  /** They travel with the write. */
  public static final int MAX_DOCUMENTS = 1000;
  public static final DocumentTokens NONE = new DocumentTokens(Map.of());

  private final Map<String, Long> tokens;

  private DocumentTokens(Map<String, Long> tokens) {
    this.tokens = tokens;
  }

  /**
   * Those of a shard's part of a bulk.
   *
   * @param ids of each item; null: it has none
   * @param itemMonitors of each item; null: it has none
   * @throws IllegalArgumentException if there are too many
   */
  public static DocumentTokens of(String[] ids, String[] itemMonitors, HeldTokens held) {
    Map<String, Long> tokens = new LinkedHashMap<>();
    for (int i = 0; i < ids.length; ++i) {
      long token = itemMonitors[i] == null ? 0 : held.of(itemMonitors[i]);
      if (token > 0 && ids[i] != null) {
        tokens.merge(ids[i], token, Math::max);
      }
    }
    if (tokens.values().stream().distinct().count() <= 1) {
      return NONE;
    }
    if (tokens.size() > MAX_DOCUMENTS) {
      throw new IllegalArgumentException(Headers.HELD + ": " + tokens.size() + " documents with fencing under several "
          + "locks are written together into one shard, and " + MAX_DOCUMENTS + " are the most; send fewer at a time");
    }
    return new DocumentTokens(tokens);
  }

  /** @param otherwise the token of those that are not among them */
  public long of(String id, long otherwise) {
    return tokens.getOrDefault(id, otherwise);
  }

  /** Without a space. */
  public String text() {
    StringBuilder text = new StringBuilder("/");
    tokens.forEach((id, token) -> text.append(URLEncoder.encode(id, StandardCharsets.UTF_8)).append('=').append(token)
        .append('/'));
    return text.toString();
  }

  public static DocumentTokens parse(String text) {
    if (text.equals("/")) {
      return NONE;
    }
    Map<String, Long> tokens = new LinkedHashMap<>();
    for (String entry : text.substring(1).split("/")) {
      String[] sides = entry.split("=", 2);
      tokens.put(URLDecoder.decode(sides[0], StandardCharsets.UTF_8), Long.parseLong(sides[1]));
    }
    return new DocumentTokens(tokens);
  }
}
