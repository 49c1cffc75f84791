// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

/**
 * Which stripe each thread starts its timeouts on: its home.
 *
 * <p>Thread ids are hashed into groups, and each group has a home. Multiplying by the golden ratio
 * spreads consecutive ids evenly over the groups, and the groups evenly over the stripes. Stripes
 * are few, so two busy threads may still share one and keep waiting for each other. So a thread
 * that meets another adding to the same stripe moves its group to the next one, and soon busy
 * threads live apart.
 *
 * <p>Any stripe is right for any timeout, so homes are read and written without ordering: a move
 * that is lost, or made twice, only leads to another.
 */
final class Homes {
  static final int GROUP_BITS = 8;

  private static final long GOLDEN_RATIO = 0x9E3779B97F4A7C15L;

  /** Keeps whatever is written beside the homes off their lines. */
  private static final int PADDING = 128;

  private final int stripes;

  /** The home of each group as an unsigned byte, between the padding. */
  private final byte[] homes = new byte[PADDING + (1 << GROUP_BITS) + PADDING];

  /**
   * Spreads all groups over the stripes.
   *
   * @param stripes a power of two, at most as many as there are groups
   */
  Homes(int stripes) {
    this.stripes = stripes;
    for (int group = 0; group < 1 << GROUP_BITS; group++) {
      homes[PADDING + group] = (byte) ((group * stripes) >> GROUP_BITS);
    }
  }

  /** The index of the stripe that a thread is to start its timeouts on. */
  int of(Thread thread) {
    return Byte.toUnsignedInt(homes[place(thread)]);
  }

  /** Moves a thread, and the others of its group, to the next stripe. */
  void move(Thread thread) {
    int place = place(thread);
    homes[place] = (byte) ((homes[place] + 1) & (stripes - 1));
  }

  private static int place(Thread thread) {
    return PADDING + (int) ((thread.getId() * GOLDEN_RATIO) >>> (Long.SIZE - GROUP_BITS));
  }
}
