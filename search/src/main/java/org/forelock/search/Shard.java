package org.forelock.search;

/**
 * A shard of an index. Immutable.
 *
 * @param index the concrete index
 * @param uuid that no other index of this name has had
 * @param number from 0
 */
public record Shard(String index, String uuid, int number) {}
