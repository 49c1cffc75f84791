// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi;

import io.timewheel.durable.model.TimerKey;

/** Computes the shard of a key. The hash is part of the format of every store and never changes. */
public final class Shards {
  private static final long FNV_OFFSET = 0xcbf29ce484222325L;
  private static final long FNV_PRIME = 0x100000001b3L;

  private Shards() {}

  /**
   * Returns the shard of a timer: a 64-bit FNV-1a hash of the UTF-16 code units of namespace, a
   * zero and id, high byte first. The hash is mixed and taken modulo the number of shards.
   *
   * @param key the timer
   * @param shards the number of shards
   * @return the shard, from 0
   */
  public static int of(TimerKey key, int shards) {
    return (int) Long.remainderUnsigned(hash(key), shards);
  }

  /**
   * Returns all 64 bits of the hash of a timer.
   *
   * @param key the timer
   * @return the hash
   */
  public static long hash(TimerKey key) {
    long hash = fold(FNV_OFFSET, key.namespace());
    hash = fold((hash * FNV_PRIME) * FNV_PRIME, key.id());
    hash ^= hash >>> 32;
    hash *= 0xd6e8feb86659fd93L;
    return hash ^ (hash >>> 32);
  }

  private static long fold(long start, String text) {
    long hash = start;
    for (int i = 0; i < text.length(); i++) {
      char unit = text.charAt(i);
      hash = (hash ^ (unit >>> 8)) * FNV_PRIME;
      hash = (hash ^ (unit & 0xff)) * FNV_PRIME;
    }
    return hash;
  }
}
