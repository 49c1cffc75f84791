// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

/**
 * Keeps the fields of a subclass 128 bytes away from the object that precedes it in memory. That is
 * two cache lines, because processors fetch them in pairs. Objects that belong to one stripe extend
 * this class, so two stripes never share a cache line.
 *
 * <p>A class whose fields are written by every operation also has padding behind them, with fields
 * of its own. These are references, because a JVM puts references last. Each garbage collection
 * gives objects new neighbours, so a shared cache line makes a timer slow only at times.
 * docs/internals/adr/0001 has the figures.
 */
abstract class Padding {
  /** The same distance in an array of words. */
  static final int PADDING_WORDS = 16;

  /**
   * Fills the rest of the header's last word, where a JVM would otherwise put a field of the
   * subclass.
   */
  @SuppressWarnings("unused")
  private int gap;

  @SuppressWarnings("unused")
  private long p00, p01, p02, p03, p04, p05, p06, p07, p10, p11, p12, p13, p14, p15, p16, p17;
}
