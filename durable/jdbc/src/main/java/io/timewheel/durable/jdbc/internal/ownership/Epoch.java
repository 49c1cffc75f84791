// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.ownership;

import java.security.SecureRandom;

/**
 * The epoch of a shard, as one number: its upper half counts how often the shard was taken, and its
 * lower half is the nonce of the lease under which it was taken last.
 *
 * <p>The count alone would not identify an owner. If a node takes a shard, and the server fails
 * over to a standby that lacks this commit, another node takes the same shard there and reaches the
 * same count. The number of the former node may be given to another one there, too. With the nonce
 * the two epochs differ, so a comparison of epochs compares owners: the fence refuses the former
 * owner, and the tokens of claims, which contain the epoch, are different ones.
 */
public final class Epoch {
  private static final int COUNT_SHIFT = 32;
  private static final long NONCE = (1L << COUNT_SHIFT) - 1;
  private static final SecureRandom RANDOM = new SecureRandom();

  private Epoch() {}

  /** {@return a random number for a lease} */
  static long nonce() {
    return RANDOM.nextLong() & NONCE;
  }

  /**
   * {@return the epoch of the next owner, which is larger than the former epoch}
   *
   * @param nonce the random number of the lease of that owner
   */
  static long next(long former, long nonce) {
    return (count(former) + 1) << COUNT_SHIFT | nonce;
  }

  /** {@return how often the shard was taken} */
  public static long count(long epoch) {
    return epoch >>> COUNT_SHIFT;
  }
}
