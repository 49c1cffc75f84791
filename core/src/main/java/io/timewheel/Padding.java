// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

/**
 * Keeps the fields of a subclass away from what lies before the object in memory: 128 bytes, two
 * cache lines, because processors fetch them in pairs. Objects that each belong to one stripe
 * extend it, so that two stripes never share a line.
 *
 * <p>What lies behind such an object is kept off by fields of the class itself, if its fields are
 * written with every operation. They are references, for those a JVM puts last. Objects have new
 * neighbours after each garbage collection, so a line that is shared shows as a timer that is slow
 * at times; docs/adr/0001 has the figures.
 */
abstract class Padding {
  /** As much, of an array of words. */
  static final int PADDING_WORDS = 16;

  /** Fills what the header leaves of its last word, where a field of the subclass would go. */
  @SuppressWarnings("unused")
  private int gap;

  @SuppressWarnings("unused")
  private long p00, p01, p02, p03, p04, p05, p06, p07, p10, p11, p12, p13, p14, p15, p16, p17;
}
