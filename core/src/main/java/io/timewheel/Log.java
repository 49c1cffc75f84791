// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

/**
 * The log of this package. It is looked up when there is something to log: the first look-up of a
 * JVM takes as long as a quarter of the first timer. A failure for lack of memory is not
 * remembered.
 */
final class Log {
  private Log() {}

  static System.Logger logger() {
    return System.getLogger("io.timewheel");
  }
}
