// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.ownership;

import java.security.SecureRandom;

/**
 * Calculates the epoch of a shard, a number. Its upper half counts how often the shard was taken.
 * Its lower half is the nonce of the node lease under which it was last taken.
 *
 * <p>The count alone would not identify an owner. Assume that a node takes a shard, and that the
 * server then fails over to a standby without this commit. Another node then takes the shard there,
 * and reaches the same count. The standby may also give the number of the former node to another
 * one. The nonce makes the two epochs different, so a comparison of epochs compares owners. The
 * fence then refuses the former owner, and claim tokens, which contain the epoch, differ.
 */
public final class Epoch {
  private static final int COUNT_SHIFT = 32;
  private static final long NONCE = (1L << COUNT_SHIFT) - 1;
  private static final SecureRandom RANDOM = new SecureRandom();

  private Epoch() {}

  /** {@return a random number for a node lease} */
  static long nonce() {
    return RANDOM.nextLong() & NONCE;
  }

  /**
   * {@return the epoch of the next owner, which is larger than the former epoch}
   *
   * @param nonce the random number of that owner's node lease
   */
  static long next(long former, long nonce) {
    return (count(former) + 1) << COUNT_SHIFT | nonce;
  }

  /** {@return how often the shard was taken} */
  public static long count(long epoch) {
    return epoch >>> COUNT_SHIFT;
  }
}
