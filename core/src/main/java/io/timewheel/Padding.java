// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

/**
 * Keeps the fields of a subclass away from what lies before the object in memory: 128 bytes, two
 * cache lines, because processors fetch them in pairs. Objects that each belong to one stripe
 * extend it, so that two stripes never share a line.
 */
abstract class Padding {
  @SuppressWarnings("unused")
  private long p00, p01, p02, p03, p04, p05, p06, p07, p10, p11, p12, p13, p14, p15, p16, p17;
}
