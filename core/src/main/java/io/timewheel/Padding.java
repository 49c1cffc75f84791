// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

/**
 * Keeps the fields of a subclass 128 bytes away from whatever precedes the object in memory: two
 * cache lines, because processors fetch them in pairs. Objects that belong to one stripe extend it,
 * so two stripes never share a line.
 *
 * <p>A class whose fields are written by every operation also pads behind them, with fields of its
 * own: references, because a JVM puts those last. Objects get new neighbours with each garbage
 * collection, so a shared line shows as a timer that is slow at times; docs/adr/0001 has the
 * figures.
 */
abstract class Padding {
  /** The same distance in an array of words. */
  static final int PADDING_WORDS = 16;

  /** Fills the rest of the header's last word, where a field of the subclass would go. */
  @SuppressWarnings("unused")
  private int gap;

  @SuppressWarnings("unused")
  private long p00, p01, p02, p03, p04, p05, p06, p07, p10, p11, p12, p13, p14, p15, p16, p17;
}
