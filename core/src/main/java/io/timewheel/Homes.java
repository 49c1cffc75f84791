// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

/**
 * Assigns each thread the stripe on which it starts its timeouts: its home.
 *
 * <p>Thread IDs are hashed into groups, and each group has a home. Multiplication by the golden
 * ratio spreads consecutive IDs evenly over the groups, and the groups evenly over the stripes.
 * There are few stripes, so two busy threads may still share one and keep waiting for each other. A
 * thread that finds the lock held by another thread that adds a timeout therefore moves its group
 * to the next stripe. Busy threads soon have different homes.
 *
 * <p>Any stripe is correct for any timeout, so homes are read and written without ordering. A move
 * that is lost or made twice only leads to another move.
 */
final class Homes {
  static final int GROUP_BITS = 8;

  private static final long GOLDEN_RATIO = 0x9E3779B97F4A7C15L;

  /** Keeps other objects off the cache lines of the homes. */
  private static final int PADDING = 128;

  private final int stripes;

  /** The home of each group as an unsigned byte, between the padding. */
  private final byte[] homes = new byte[PADDING + (1 << GROUP_BITS) + PADDING];

  /**
   * Spreads all groups over the stripes.
   *
   * @param stripes a power of two, at most the number of groups
   */
  Homes(int stripes) {
    this.stripes = stripes;
    for (int group = 0; group < 1 << GROUP_BITS; group++) {
      homes[PADDING + group] = (byte) ((group * stripes) >> GROUP_BITS);
    }
  }

  /** Returns the index of the stripe on which a thread starts its timeouts. */
  int of(Thread thread) {
    return Byte.toUnsignedInt(homes[place(thread)]);
  }

  /** Moves a thread, and the rest of its group, to the next stripe. */
  void move(Thread thread) {
    int place = place(thread);
    homes[place] = (byte) ((homes[place] + 1) & (stripes - 1));
  }

  private static int place(Thread thread) {
    return PADDING + (int) ((thread.getId() * GOLDEN_RATIO) >>> (Long.SIZE - GROUP_BITS));
  }
}
